import { lookup } from 'node:dns'
import { GatewayError, defineStage, duration, durationSchema } from '../../../engine/index.ts'
import type {
  AudioPart,
  Candidate,
  Envelope,
  FilePart,
  GenerateRequest,
  Host,
  Item,
  JsonObject,
  Offer,
  Part,
  Scope,
} from '../../../engine/index.ts'
import type { FetchRules, FetchedFile } from '../files/fetch-file.ts'
import { audioFormatOf } from '../files/media-type.ts'
import { placeOf } from '../files/place.ts'

/** Fetches files that are given by their address where the provider takes only their bytes. */
export default defineStage({
  name: 'inline-files',
  summary: 'Fetch files given by their address, for providers that take only their bytes.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      files: { type: 'integer', minimum: 0, default: 16, description: 'Most files fetched for one request.' },
      limit: { type: 'integer', minimum: 1, default: 33_554_432, description: 'Most bytes one file may have.' },
      total: {
        type: 'integer',
        minimum: 1,
        default: 67_108_864,
        description: 'Most bytes the files of one request may have together.',
      },
      within: { ...durationSchema, default: '30s', description: 'How long fetching all of them may take.' },
      private_addresses: {
        type: 'boolean',
        default: false,
        description:
          'Also fetch from private networks and this machine, and from any port. For gateways whose clients are trusted with what is there.',
      },
    },
  } as const,
  needs: ['request', 'model'],
  provides: ['request'],
  build: (config, host) => {
    const rules: Rules = {
      files: config.files,
      within: duration(config.within),
      limit: config.limit,
      total: config.total,
      privateAddresses: config.private_addresses,
      userAgent: `sluice/${host.version}`,
    }
    // Further candidates of the same request need not fetch again.
    const fetched = new WeakMap<Envelope, Files>()
    return ({ request, model }, scope) => {
      const wanted = wantedParts(request, model, host)
      if (!wanted) return { request }
      const known = fetched.get(request) ?? new Map<string, FetchedFile>()
      fetched.set(request, known)
      return inline(request, wanted, known, rules, scope)
    }
  },
})

interface Rules extends FetchRules {
  readonly files: number
  /** Milliseconds. */
  readonly within: number
}

type Files = Map<string, FetchedFile>
type LinkedPart = (AudioPart | FilePart) & { readonly source: { readonly kind: 'url' } }

interface Wanted {
  readonly neutral: GenerateRequest
  readonly urls: ReadonlySet<string>
  readonly is: (part: Part) => part is LinkedPart
}

/** What has to be fetched. A request that goes on as the client's own bytes is not parsed to find out. */
function wantedParts(request: Envelope, { offer }: Candidate, host: Host): Wanted | undefined {
  if (request.operation !== 'generate' || offer.protocol === undefined) return undefined
  const { request: printing } = host.codec(offer.protocol)
  if (!printing?.inlines || relayed(request, offer)) return undefined
  const is = (part: Part): part is LinkedPart =>
    (part.type === 'file' || part.type === 'audio') &&
    part.source.kind === 'url' &&
    printing.inlines?.(part, offer) === true
  const neutral = request.neutral('generate')
  const urls = new Set(
    neutral.items.flatMap((item) => partsOf(item).flatMap((part) => (is(part) ? [part.source.url] : []))),
  )
  return urls.size === 0 ? undefined : { neutral, urls, is }
}

/** Whether the client's bytes go on as they are, with no address that only other providers of their protocol take. */
function relayed({ exact, protocol, raw }: Envelope, offer: Offer): boolean {
  if (!exact || protocol !== offer.protocol) return false
  return offer.traits?.['file_url'] !== false || !raw.includes('"file_url"')
}

function partsOf(item: Item): readonly Part[] {
  return item.type === 'message' || item.type === 'result' ? item.content : []
}

async function inline(request: Envelope, wanted: Wanted, files: Files, rules: Rules, scope: Scope) {
  const started = performance.now()
  await fetchAll(request.sent, wanted.urls, files, rules, scope)
  scope.time('files', performance.now() - started)
  const replaced = (part: Part): Part => {
    const file = wanted.is(part) ? files.get(part.source.url) : undefined
    return file ? inlined(part as LinkedPart, file) : part
  }
  const items = wanted.neutral.items.map((item) =>
    partsOf(item).some(wanted.is) ? ({ ...item, content: partsOf(item).map(replaced) } as Item) : item,
  )
  return { request: request.with({ neutral: { ...wanted.neutral, items } }) }
}

function inlined(part: LinkedPart, { mediaType, data, filename }: FetchedFile): Part {
  const source = { kind: 'data', mediaType, data } as const
  if (part.type === 'audio') return { ...part, source, format: part.format ?? audioFormatOf(mediaType) }
  const { cache } = part
  if (mediaType.startsWith('image/')) return { type: 'image', source, ...(cache ? { cache } : {}) }
  return { ...part, source, ...(part.filename === undefined && filename !== undefined ? { filename } : {}) }
}

/** How many files of one request are fetched at a time. */
const atOnce = 4

async function fetchAll(sent: JsonObject, urls: ReadonlySet<string>, files: Files, rules: Rules, scope: Scope) {
  const missing = [...urls].filter((url) => !files.has(url))
  const refused = (url: string, reason: string, cause?: unknown) =>
    new GatewayError('invalid_value', { param: placeOf(url, sent) ?? 'file_url', reason }, { cause })
  const extra = [...urls][rules.files]
  if (extra !== undefined) throw refused(extra, `at most ${rules.files} files are fetched for one request`)
  // Loaded for the first file: its HTTP client is large, and most requests bring their files along.
  const { FileFetcher, Unfetched } = await import('../files/fetch-file.ts')
  const fetcher = new FileFetcher(rules, lookup)
  const late = AbortSignal.timeout(rules.within)
  const enough = new AbortController()
  const signal = AbortSignal.any([scope.signal, late, enough.signal])
  const worker = async () => {
    for (let url = missing.shift(); url !== undefined; url = missing.shift()) {
      try {
        files.set(url, await fetcher.fetch(url, signal))
      } catch (error) {
        scope.signal.throwIfAborted()
        const reason = late.aborted ? 'it took too long to fetch' : error instanceof Unfetched && error.message
        if (reason === false) throw error
        // One of an earlier turn was there then: the conversation goes on, with a text in its place.
        if (placeOf(url, sent) !== undefined) throw refused(url, reason, error)
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, worker))
  } finally {
    enough.abort()
    await fetcher.close()
  }
}
