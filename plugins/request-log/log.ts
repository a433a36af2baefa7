import { Refusal, defineStage } from '../../engine/index.ts'
import { defined, isObject } from '../../engine/kit.ts'
import type {
  Given,
  Host,
  Ingress,
  Json,
  JsonObject,
  Loss,
  Metered,
  Principal,
  Scope,
  Services,
  Usage,
} from '../../engine/index.ts'
import { microseconds } from './row.ts'
import type { LogRow, Result } from './row.ts'

type Slots = Given<'outcome', 'ingress' | 'principal' | 'request' | 'model' | 'upstream' | 'measurement' | 'bill'>

/** Writes the row of the request log: key, models, result, duration, tokens and cost. */
export default defineStage({
  name: 'log',
  summary: 'Write the row of the request log.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      type: {
        type: 'string',
        minLength: 1,
        description: 'Type of the exchange, for filters. Unset: the protocol of the pipeline.',
      },
    },
  } as const,
  needs: ['outcome'],
  reads: ['ingress', 'principal', 'request', 'model', 'upstream', 'measurement', 'bill'],
  // A failure of billing must not lose the row.
  insists: () => ['bill'],
  provides: [],
  pays: ['log'],
  uses: ['requests', 'members'],
  build: ({ type: given }, host, { requests, members }) => {
    const type = given ?? host.pipeline.protocol
    if (type === undefined)
      throw new Refusal('the pipeline has no protocol; say what the type of its rows is', ['type'])
    return (slots, scope) => {
      requests.write(rowOf(slots, scope, { type, host, members, logging: requests.logging }), scope)
      return {}
    }
  },
})

/** What rows of one place in a pipeline are made with. */
interface Place {
  readonly type: string
  readonly host: Host
  readonly members: Pick<Services['members'], 'find'>
  readonly logging: Services['requests']['logging']
}

function rowOf(slots: Slots, scope: Scope, { type, host, members, logging }: Place): LogRow {
  const { outcome, principal, request, model, bill } = slots
  const metered = read(slots, host)
  const usage = bill?.tokens
  const served = servedBy(slots, scope)
  return {
    id: scope.id,
    at: Math.round(Date.now() - scope.elapsed()),
    type,
    keyId: principal?.kind === 'key' ? principal.id : null,
    keyName: principal?.kind === 'key' ? principal.name : null,
    ...memberOf(principal, members),
    requested: request?.model.slice(0, 256) || null,
    model: served.model,
    provider: served.provider,
    protocol: request?.protocol ?? host.pipeline.protocol ?? null,
    upstreamProtocol: model?.offer.protocol ?? null,
    stream: request?.stream ?? false,
    status: outcome.status,
    result: resultOf(slots, scope),
    error: outcome.error?.code ?? null,
    attempts: wasAsked(slots, scope) ? scope.attempt : 0,
    inputTokens: usage?.input ?? null,
    cacheReadTokens: usage?.cacheRead ?? null,
    cacheWriteTokens: usage?.cacheWrite ?? null,
    outputTokens: usage?.output ?? null,
    reasoningTokens: usage?.reasoning ?? null,
    costMicros: bill?.cost.micros ?? null,
    savingsMicros: savingsIn(scope.notes.get('routing')),
    firstByte: outcome.firstByte === undefined ? null : Math.round(outcome.firstByte),
    duration: Math.round(outcome.duration),
    reference: referenceOf((slots.ingress?.headers ?? request?.headers)?.['x-request-id']),
    parent: scope.parent ?? null,
    tier: textOf(scope.notes.get('routing_tier')),
    guarded: textOf(scope.notes.get('guarded')),
    failedProviders: failedIn(slots, scope),
    traceId: traceIdOf(scope),
    tags: principal?.tags,
    ended: Date.now(),
    pipeline: host.pipeline.name,
    laps: scope.laps,
    metadata: metadataOf(slots, scope, { metered, logging }),
  }
}

/** Built field by field: it runs for every request, and most rows have few fields. */
function metadataOf(
  { outcome, upstream, bill, ingress }: Slots,
  scope: Scope,
  { metered, logging }: { readonly metered: ReturnType<typeof read>; readonly logging: Place['logging'] },
): LogRow['metadata'] {
  const metadata: Record<string, Json> = {}
  scope.notes.forEach((value, name) => {
    // An assignment would set the prototype.
    if (name === '__proto__')
      Object.defineProperty(metadata, name, { value, enumerable: true, configurable: true, writable: true })
    else metadata[name] = value
  })
  metadata['times'] = timesOf(scope.times)
  const { losses = [] } = upstream ?? {}
  if (losses.length + metered.losses.length > 0) metadata['losses'] = lossesOf([...losses, ...metered.losses])
  if (metered.stop !== undefined) metadata['stop'] = metered.stop
  if (metered.id !== undefined) metadata['upstream_id'] = metered.id
  if (metered.model !== undefined) metadata['upstream_model'] = metered.model
  if (bill?.tokens === undefined) metadata['usage'] = 'unknown'
  else if (metered.estimated) metadata['usage'] = 'estimated'
  const units = unitsOf(metered.units, bill?.tokens)
  if (units !== undefined) metadata['units'] = units
  if (bill?.cost.micros === undefined) metadata['cost'] = 'unknown'
  if (outcome.error !== undefined) metadata['error_message'] = outcome.error.message.slice(0, keptMessage)
  if (outcome.error?.at !== undefined) metadata['error_at'] = outcome.error.at
  if (ingress && logging.headers.length > 0) metadata['headers'] = headersOf(ingress, logging.headers)
  if (ingress && logging.client_address) metadata['address'] = ingress.remote
  return metadata
}

/** What was used beside text, as far as it is known: audio and pictures in tokens, and what is not counted in tokens. */
function unitsOf(units: Metered['units'], usage: Usage | undefined): JsonObject | undefined {
  if (usage === undefined || !partial.some((part) => usage[part] !== undefined)) return units && { ...units }
  const {
    inputAudio: audio_input,
    outputAudio: audio_output,
    inputImage: image_input,
    outputImage: image_output,
  } = usage
  return { ...units, ...defined({ audio_input, audio_output, image_input, image_output, searches: usage.searches }) }
}

const partial = ['inputAudio', 'outputAudio', 'inputImage', 'outputImage', 'searches'] as const

/** The headers that the settings name, of those that were sent. */
function headersOf({ headers }: Ingress, names: readonly string[]): JsonObject {
  const sent = names.map((name) => name.toLowerCase()).filter((name) => headers[name] !== undefined)
  return Object.fromEntries(sent.map((name) => [name, String(headers[name]).slice(0, keptHeader)]))
}

/** Most characters of a header. */
const keptHeader = 1_024

/** Most characters of an error's message. */
const keptMessage = 1_000

/** What smart routing saved, which it notes in USD when it knows the real usage. */
function savingsIn(routing: Json | undefined): number | null {
  const actual = isObject(routing) ? routing['actual'] : undefined
  const savings = isObject(actual) ? actual['savings'] : undefined
  return typeof savings === 'number' ? savings * 1_000_000 : null
}

/** The member who owns the key, or who sent the request. */
function memberOf(principal: Principal | undefined, members: Place['members']): Member {
  if (principal?.kind === 'member') return { memberId: principal.id, memberName: principal.name }
  const { owner } = principal ?? {}
  if (owner === undefined) return noMember
  return { memberId: owner, memberName: members.find(owner)?.username ?? null }
}

type Member = Pick<LogRow, 'memberId' | 'memberName'>

const noMember: Member = { memberId: null, memberName: null }

/** Whether a provider was asked. */
function wasAsked({ model }: Slots, { notes }: Scope): boolean {
  return model !== undefined || notes.has('tries')
}

function resultOf(slots: Slots, scope: Scope): Result {
  const { result, status } = slots.outcome
  const rejected = status < 500 || status === 503
  return result === 'failed' && rejected && !wasAsked(slots, scope) ? 'refused' : result
}

/** Most losses of a row, because a client can send any number of unknown fields. */
const keptLosses = 100

function lossesOf(losses: readonly Loss[]): Json {
  return losses
    .slice(0, keptLosses)
    .map(({ field, because }) => ({ field: field.slice(0, 128), because: because.slice(0, 256) }))
}

/** The model that served; otherwise the last one that was tried. */
function servedBy({ model }: Slots, scope: Scope): Pick<LogRow, 'model' | 'provider'> {
  if (model !== undefined) return { model: model.model.name, provider: model.provider.name }
  const tries = scope.notes.get('tries')
  const last: unknown = Array.isArray(tries) ? tries.at(-1) : undefined
  if (!isObject(last)) return { model: null, provider: null }
  return { model: textOf(last['model']), provider: textOf(last['provider']) }
}

/** The providers that failed a request, each once. */
function failedIn({ model, outcome }: Slots, { notes }: Scope): readonly string[] | undefined {
  const tries = notes.get('tries')
  // Most requests have none.
  if (tries === undefined && outcome.result !== 'failed') return undefined
  const failed = (Array.isArray(tries) ? tries : []).flatMap((one) =>
    isObject(one) && isFailure(one) ? one['provider'] : [],
  )
  if (model && outcome.result === 'failed' && isFailure({ ...outcome.error })) failed.push(model.provider.name)
  return failed.length === 0 ? undefined : [...new Set(failed.map(String))]
}

/**
 * Whether a provider failed. It did not where it was not asked, where the client left, and where the gateway failed
 * itself; and a client's mistake shows that it works.
 */
function isFailure({ code, status }: JsonObject): boolean {
  if (typeof status !== 'number') return textOf(code)?.startsWith('upstream_') === true
  return status >= 500 || [401, 403, 408, 429].includes(status)
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}

/** The measurement. An answer that cannot be parsed must not lose the row. */
function read({ measurement }: Slots, { log }: Host): Metered & { readonly losses: readonly Loss[] } {
  try {
    return measurement?.read() ?? { losses: [] }
  } catch (error) {
    log.warn({ err: error }, 'the answer could not be metered')
    return { losses: [] }
  }
}

/** The client's request id, if it is harmless in a log and a header. */
function referenceOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : null
}

/** The second field of a valid `traceparent`. */
function traceIdOf({ trace }: Scope): string | null {
  return trace === undefined ? null : trace.traceparent.slice(3, 35)
}

/** Milliseconds, to the microsecond. */
function timesOf(times: Scope['times']): Json {
  const rounded: Record<string, number> = {}
  for (const { name, milliseconds } of times) rounded[name] = microseconds(milliseconds)
  return rounded
}
