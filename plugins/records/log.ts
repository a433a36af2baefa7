import { defineStage, isObject } from '../../engine/index.ts'
import type { Given, Host, Json, LogRow, Loss, Metered, Scope, Usage } from '../../engine/index.ts'
import { costOf, isPlausible } from './cost.ts'

type Slots = Given<'outcome', 'ingress' | 'principal' | 'request' | 'model' | 'upstream' | 'meter'>
type Counts = Pick<
  LogRow,
  'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'outputTokens' | 'reasoningTokens' | 'costMicros'
>

/** Writes the row of the request log: who asked what, who answered, how it ended, what it took and what it cost. */
export default defineStage({
  name: 'log',
  summary: 'Write the row of the request log.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['type'],
    properties: {
      type: { type: 'string', minLength: 1, description: 'What kind of exchange it was, to tell rows apart.' },
    },
  } as const,
  needs: ['outcome'],
  maybe: ['ingress', 'principal', 'request', 'model', 'upstream', 'meter'],
  provides: [],
  build:
    ({ type }, host) =>
    (slots, scope) => {
      host.record(rowOf(type, slots, scope, host))
      return {}
    },
})

function rowOf(type: string, slots: Slots, scope: Scope, host: Host): LogRow {
  const { outcome, principal, request, model, upstream } = slots
  const metered = read(slots, host)
  const usage = usageOf(metered, slots, scope)
  const counts = countsOf(usage, slots)
  const losses = [...(upstream?.losses ?? []), ...metered.losses]
  return {
    id: scope.id,
    at: Math.round(Date.now() - scope.elapsed()),
    type,
    keyId: principal?.keyId ?? null,
    requested: request?.model.slice(0, 256) ?? null,
    ...servedBy(slots, scope),
    protocol: request?.protocol ?? host.pipeline.protocol ?? null,
    upstreamProtocol: model?.offer.protocol ?? null,
    stream: request?.stream ?? false,
    status: outcome.status,
    result: outcome.result,
    error: outcome.error?.code ?? null,
    attempts: model === undefined && !scope.notes.has('tries') ? 0 : scope.attempt,
    ...counts,
    firstByte: outcome.firstByte === undefined ? null : Math.round(outcome.firstByte),
    duration: Math.round(outcome.duration),
    reference: referenceOf(slots.ingress?.headers['x-request-id']),
    metadata: {
      ...Object.fromEntries(scope.notes),
      times: timesOf(scope.times),
      ...(losses.length === 0 ? {} : { losses: losses.map(({ field, because }) => ({ field, because })) }),
      ...(metered.stop === undefined ? {} : { stop: metered.stop }),
      ...(metered.id === undefined ? {} : { upstream_id: metered.id }),
      ...(metered.model === undefined ? {} : { upstream_model: metered.model }),
      ...(usage === undefined ? { usage: 'unknown' } : {}),
      ...(counts.costMicros === null ? { cost: 'unknown' } : {}),
      ...(outcome.error?.at === undefined ? {} : { error_at: outcome.error.at }),
    },
  }
}

const NOTHING: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** The tokens used: none when no provider was asked, undefined when one was and did not say. */
function usageOf({ usage }: Metered, { model }: Slots, scope: Scope): Usage | undefined {
  if (model === undefined && !scope.times.has('upstream')) return NOTHING
  return usage !== undefined && isPlausible(usage) ? usage : undefined
}

/** The model that served or, when none did, the last that was tried. */
function servedBy({ model }: Slots, scope: Scope): Pick<LogRow, 'model' | 'provider'> {
  if (model !== undefined) return { model: model.model.name, provider: model.provider.name }
  const tries = scope.notes.get('tries')
  const last: unknown = Array.isArray(tries) ? tries.at(-1) : undefined
  if (!isObject(last)) return { model: null, provider: null }
  return { model: textOf(last['model']), provider: textOf(last['provider']) }
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}

/** What the meter says. An answer that cannot be read must not cost its row. */
function read({ meter }: Slots, { log }: Host): Metered & { readonly losses: readonly Loss[] } {
  try {
    return meter?.read() ?? { losses: [] }
  } catch (error) {
    log.warn({ err: error }, 'the answer could not be metered')
    return { losses: [] }
  }
}

function countsOf(usage: Usage | undefined, { model }: Slots): Counts {
  return {
    inputTokens: usage?.input ?? null,
    cacheReadTokens: usage?.cacheRead ?? null,
    cacheWriteTokens: usage?.cacheWrite ?? null,
    outputTokens: usage?.output ?? null,
    reasoningTokens: usage?.reasoning ?? null,
    costMicros: (usage && costOf(usage, model?.model.pricing)) ?? null,
  }
}

/** The client's own name for its request, when it is one that cannot do harm in a log or a header. */
function referenceOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : null
}

/** Milliseconds per stage, to the microsecond. */
function timesOf(times: ReadonlyMap<string, number>): Json {
  return Object.fromEntries([...times].map(([name, time]) => [name, Math.round(time * 1000) / 1000]))
}
