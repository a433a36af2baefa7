import { defineService } from '../../engine/index.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import { isObject, timeText } from '../../engine/kit.ts'

/** Milliseconds for which an answer is used, and after which a failure is tried again. */
const fresh = { answer: 6 * 3_600_000, failure: 600_000 }

/** What is known of newer versions. */
export interface Updates {
  /** Where the newest version stands; absent: nobody is asked. */
  readonly url?: string
  /**
   * The newest version, compared with this one. Asks at most once every few hours, and rejects never.
   * @param read reads the answer of the address
   */
  latest(version: string, read: (url: string) => Promise<Json | undefined>): Promise<JsonObject | null>
}

declare module '../../engine/index.ts' {
  interface Services {
    updates: Updates
  }
}

interface Checked {
  readonly url: string
  readonly at: number
  /** Undefined: it could not be learned. */
  readonly latest: string | undefined
}

/** Knows the newest version, if the configuration file says where it stands. */
export default defineService({
  name: 'updates',
  summary: 'The newest version, if the configuration says where it stands.',
  open({ log }) {
    let known: Promise<Checked> | undefined
    let since = { url: '', until: 0 }
    const check = async (url: string, read: (url: string) => Promise<Json | undefined>): Promise<Checked> => {
      const latest = await read(url).then(versionIn, (error: unknown) => {
        log.warn({ err: error }, 'the newest version could not be learned')
        return undefined
      })
      const at = Date.now()
      since = { url, until: at + (latest === undefined ? fresh.failure : fresh.answer) }
      return { url, at, latest }
    }
    return {
      configure: (_settings, _views, { updates: url }) => ({
        view: {
          ...(url === undefined ? {} : { url }),
          async latest(version, read) {
            if (url === undefined) return null
            if (known === undefined || since.url !== url || since.until <= Date.now()) {
              // Until it has answered, nobody else asks.
              since = { url, until: Infinity }
              known = check(url, read)
            }
            const { at, latest = null } = await known
            return { checked_at: timeText(at), latest, newer: latest !== null && isNewer(latest, version) }
          },
        },
      }),
    }
  },
})

/** The version that an answer names: `version`, as registries of packages do, or `tag_name`, as releases have it. */
export function versionIn(answer: Json | undefined): string | undefined {
  if (!isObject(answer)) return undefined
  const { version = answer['tag_name'] } = answer
  const text = typeof version === 'string' ? version.replace(/^v/, '') : ''
  return numbersOf(text) && text.length <= 64 ? text : undefined
}

/** Whether a version follows another one (semantic versioning 2.0.0, section 11); a release follows its previews. */
export function isNewer(version: string, than: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(than)]
  if (!left || !right) return false
  const at = left.findIndex((number, index) => number !== right[index])
  if (at >= 0) return (left[at] as number) > (right[at] as number)
  return than.includes('-') && !version.includes('-')
}

function numbersOf(version: string): readonly number[] | undefined {
  const [, ...numbers] = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+][\w.+-]*)?$/.exec(version) ?? []
  return numbers.length === 3 ? numbers.map(Number) : undefined
}
