import { extname, join } from 'node:path'
import { defineStage } from '../../engine/index.ts'
import { bytesOf, commonHeaders, folderOf, nothingAt, ofBuild } from './build.ts'

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
}

/** A file of the folder itself: no slash passes, and no dot at the beginning. */
const plainName = /^[\w-][\w.-]{0,127}$/

/** The build writes a hash of the content into the names of most files. */
const hashedName = /-[\w-]{8}\.[a-z]{1,12}$/

/** The forms that the build writes beside a file, the smallest first. */
const encodings = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
]

/**
 * Answers a file of the console: the rest of the path is its name. Files whose name has a hash of their content never
 * change, so browsers keep them for a year, and others for five minutes. 404 for any other name.
 */
export default defineStage({
  name: 'serve-asset',
  summary: 'Answer a file of the console.',
  config: ofBuild,
  needs: ['ingress'],
  provides: ['reply'],
  build: ({ folder }) => {
    const assets = join(folderOf(folder), 'assets')
    return async ({ ingress }) => {
      const name = ingress.params['*'] ?? ''
      const type = plainName.test(name) ? types[extname(name)] : undefined
      const found = type && (await smallest(join(assets, name), ingress.headers['accept-encoding']))
      if (!found) throw nothingAt(ingress, `/assets/${name}`)
      return {
        reply: {
          status: 200,
          headers: {
            ...commonHeaders,
            'cache-control': hashedName.test(name) ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
            vary: 'accept-encoding',
            ...(found.encoding === undefined ? {} : { 'content-encoding': found.encoding }),
          },
          body: { kind: 'bytes', bytes: found.bytes, type },
        },
      }
    }
  },
})

interface Found {
  readonly bytes: Buffer
  readonly encoding?: string
}

/** The smallest form of a file that the client accepts. */
async function smallest(file: string, accepted: string | string[] | undefined): Promise<Found | undefined> {
  const wanted = acceptedOf(String(accepted ?? ''))
  for (const { name, extension } of encodings) {
    const bytes = wanted.has(name) ? await bytesOf(file + extension) : undefined
    if (bytes) return { bytes, encoding: name }
  }
  const bytes = await bytesOf(file)
  return bytes && { bytes }
}

/** The encodings that a client accepts by name (RFC 9110, section 12.5.3). */
function acceptedOf(header: string): ReadonlySet<string> {
  const named = header
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((word) => word.trim()))
  return new Set(named.filter((words) => !words.some((word) => /^q=0(\.0*)?$/.test(word))).map(([name = '']) => name))
}
