import { GatewayError, defineStage } from '../../engine/index.ts'
import { Hold, duration, durationSchema } from '../../engine/kit.ts'
import type {
  AudioPart,
  Candidate,
  Envelope,
  FilePart,
  GenerateRequest,
  Host,
  ImagePart,
  Item,
  Offer,
  Part,
  Scope,
} from '../../engine/index.ts'
import { fetchAll } from './files/fetch-all.ts'
import type { FetchRules, FetchedFile } from './files/fetch-file.ts'
import { audioFormatOf } from './files/media-type.ts'
import { placesOf } from './files/place.ts'
import { byteLane } from './lane.ts'

/** Fetches files that are given as URLs, if the provider accepts only bytes. */
export default defineStage({
  name: 'inline-files',
  summary: 'Fetch files given as URLs, for providers that accept only bytes.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      files: { type: 'integer', minimum: 0, default: 16, description: 'Most files to fetch for one request.' },
      limit: {
        type: 'integer',
        minimum: 1,
        description: 'Most bytes of one file. Unset: as in `security.file_urls`.',
      },
      total: {
        type: 'integer',
        minimum: 1,
        default: 67_108_864,
        description: 'Most bytes of all files of one request; a file that is sent twice counts twice.',
      },
      within: {
        ...durationSchema,
        description: 'Timeout for fetching all of them. Unset: as in `security.file_urls`.',
      },
      private_addresses: {
        type: 'boolean',
        description:
          'Also fetch from private networks and this machine, and from any port. Unset: as in `security.file_urls`.',
      },
    },
  } as const,
  needs: ['request', 'model'],
  provides: ['request'],
  uses: ['file_urls', 'web_search'],
  build: (config, host, { file_urls: { file_urls: settings }, web_search: searches }) => {
    const rules: Rules = {
      files: settings.fetch ? config.files : 0,
      within: duration(config.within ?? settings.timeout),
      limit: config.limit ?? settings.max_bytes,
      total: config.total,
      privateAddresses: config.private_addresses ?? settings.allow_private,
      userAgent: `sluice/${host.version}`,
    }
    const { byteBudget } = host
    const relays = byteLane(host, searches)
    // Further candidates of the same request reuse the files.
    const begun = new WeakMap<Envelope, Holding>()
    return ({ request, model }, scope) => {
      const wanted = wantedParts(request, model, host, relays)
      if (!wanted) return { request }
      let holding = begun.get(request)
      if (!holding) {
        const { fetched, sent } = (holding = {
          files: new Map(),
          fetched: new Hold(byteBudget),
          sent: new Hold(byteBudget),
        })
        begun.set(request, holding)
        scope.onEnd?.(() => {
          fetched.release()
          sent.release()
        })
      }
      return inline(request, wanted, holding, rules, scope)
    }
  },
})

interface Rules extends FetchRules {
  readonly files: number
  /** Milliseconds. */
  readonly within: number
}

/** The fetched files of a request, kept until it is over. */
interface Holding {
  readonly files: Map<string, FetchedFile>
  readonly fetched: Hold
  /** The bytes of the budget held for the current candidate's body. */
  readonly sent: Hold
}

type LinkedPart = (AudioPart | FilePart | ImagePart) & { readonly source: { readonly kind: 'url' } }

interface Wanted {
  /** In the order of the conversation. */
  readonly parts: readonly LinkedPart[]
  /** Whether a part is one of them. */
  readonly is: (part: Part) => part is LinkedPart
}

/** The files to fetch. A request on the byte lane is not parsed for this. */
function wantedParts(
  request: Envelope,
  candidate: Candidate,
  host: Host,
  relays: ReturnType<typeof byteLane>,
): Wanted | undefined {
  const { offer } = candidate
  if (request.operation !== 'generate' || offer.protocol === undefined) return undefined
  const { request: printing } = host.upstreamCodec(offer.protocol)
  if (!printing?.inlines || (relays(request, candidate) && namesNone(request, offer))) return undefined
  const is = (part: Part): part is LinkedPart =>
    (part.type === 'file' || part.type === 'audio' || part.type === 'image') &&
    part.source.kind === 'url' &&
    printing.inlines?.(part, offer) === true
  const parts = request.neutral('generate').items.flatMap((item) => partsOf(item).filter(is))
  return parts.length === 0 ? undefined : { parts, is }
}

/** Whether a request on the byte lane has no URL that this provider would not accept. */
function namesNone({ raw }: Envelope, { traits }: Offer): boolean {
  return traits?.['file_url'] !== false || !raw.bytes?.includes('"file_url"')
}

function partsOf(item: Item): readonly Part[] {
  return item.type === 'message' || item.type === 'result' ? item.content : []
}

async function inline(request: Envelope, wanted: Wanted, holding: Holding, rules: Rules, scope: Scope) {
  const { parts } = wanted
  const links = linksOf(parts, request)
  const started = performance.now()
  await fetchLinks(links, holding, rules, scope)
  scope.time('files', performance.now() - started)
  const fitting = fittingFiles(links, holding, rules)
  return { request: request.with({ inlined: (neutral) => withFiles(neutral, wanted, fitting) }) }
}

/** A request with files in place of their addresses; another stage may have changed its texts meanwhile. */
function withFiles(neutral: GenerateRequest, { parts, is }: Wanted, files: Fitting): GenerateRequest {
  const left = Map.groupBy(parts, ({ source }) => source.url)
  const placed = (part: Part): Part => {
    const known = is(part) ? left.get(part.source.url)?.shift() : undefined
    const file = known && files.get(known)
    return file ? inlined(part as LinkedPart, file) : part
  }
  const items = neutral.items.map((item) =>
    partsOf(item).some(is) ? ({ ...item, content: partsOf(item).map(placed) } as Item) : item,
  )
  return { ...neutral, items }
}

/** A part with its path in the client's body; without a path it belongs to an earlier turn. */
interface Link {
  readonly part: LinkedPart
  readonly url: string
  readonly place: string | undefined
}

/** The client's parts in their order, then those of earlier turns, the latest first. */
function linksOf(parts: readonly LinkedPart[], { sent }: Envelope): readonly Link[] {
  const places = placesOf(new Set(parts.map(({ source }) => source.url)), sent)
  // The client's own items are at the end of the conversation.
  const links = parts.toReversed().map((part): Link => {
    const { url } = part.source
    return { part, url, place: places.get(url)?.pop() }
  })
  const own = links.filter(({ place }) => place !== undefined)
  return [...own.toReversed(), ...links.filter(({ place }) => place === undefined)]
}

/** Fetches the client's files, and those of earlier turns while there is room. A text replaces the others. */
async function fetchLinks(links: readonly Link[], { files, fetched }: Holding, rules: Rules, scope: Scope) {
  const first = new Map<string, string | undefined>()
  for (const { url, place } of links) if (!first.has(url)) first.set(url, place)
  const urls = [...first.keys()]
  const own = urls.filter((url) => first.get(url) !== undefined)
  const extra = own[rules.files]
  if (extra !== undefined) throw refused(first.get(extra), tooMany(rules.files))
  await fetchAll([own, urls.slice(own.length, rules.files)], {
    rules: { ...rules, taken: (bytes) => take(fetched, bytes) },
    within: rules.within,
    scope,
    files,
    // A file of an earlier turn was available then: the conversation continues without it.
    missed(url, reason, cause) {
      const place = first.get(url)
      if (place !== undefined) throw refused(place, reason, cause)
    },
  })
}

function tooMany(files: number): string {
  return files === 0
    ? 'files are not fetched by their address for this provider; send the bytes'
    : `at most ${files} files are fetched for one request`
}

type Fitting = ReadonlyMap<LinkedPart, FetchedFile>

/** The files of the parts. A file that is sent twice counts twice. */
function fittingFiles(links: readonly Link[], { files, sent }: Holding, { total }: Rules): Fitting {
  const fitting = new Map<LinkedPart, FetchedFile>()
  let left = total
  // The body for the previous candidate is gone.
  sent.release()
  for (const { part, url, place } of links) {
    const file = files.get(url)
    if (!file) continue
    const size = Buffer.byteLength(file.data, 'base64')
    if (size <= left) {
      left -= size
      take(sent, size)
      fitting.set(part, file)
    } else if (place !== undefined) throw refused(place, `the files together are larger than ${total} bytes`)
  }
  return fitting
}

function take(hold: Hold, bytes: number): void {
  if (!hold.take(bytes)) throw new GatewayError('overloaded', {}, { retryAfter: 1 })
}

function refused(place: string | undefined, reason: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_value', { param: place ?? 'file_url', reason }, { cause })
}

function inlined(part: LinkedPart, { mediaType, data, filename }: FetchedFile): Part {
  const source = { kind: 'data', mediaType, data } as const
  if (part.type === 'audio') return { ...part, source, format: part.format ?? audioFormatOf(mediaType) }
  const { cache } = part
  if (mediaType.startsWith('image/')) return { type: 'image', source, ...(cache ? { cache } : {}) }
  if (part.type === 'image') return { ...part, source }
  return { ...part, source, ...(part.filename === undefined && filename !== undefined ? { filename } : {}) }
}
