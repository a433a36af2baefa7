import type { Json, JsonObject, Services } from '../../engine/index.ts'
import { isObject, parsedObject, shape, timeText } from '../../engine/kit.ts'
import type { ListedRow } from './find.ts'
import { routingShape } from './shown-routing.ts'
import { spansOf, timesOf } from './spans.ts'
import type { Span } from './spans.ts'
import type { RequestsTable } from './table.ts'

const orNull = {
  text: (description: string) => shape.orNull(shape.text(description)),
  number: (description: string) => shape.orNull(shape.number(description)),
}

/** JSON Schema of tokens in disjoint buckets. */
export const tokens = shape.object(
  {
    input: shape.integer('Input that was not read from a cache.'),
    cache_read: shape.integer('Read from a cache.'),
    cache_write: shape.integer('Written to a cache.'),
    output: shape.integer('Output without reasoning.'),
    reasoning: shape.integer('Reasoning.'),
    total: shape.integer('All of them.'),
  },
  {},
  'Tokens.',
)

const itemFields = {
  id: shape.text('Its id.'),
  at: shape.time('When it began.'),
  type: shape.text('Its type, such as chat.'),
  key: shape.orNull(shape.object({ id: shape.text('Its id.'), name: shape.text('Its name.') }, {}, 'The API key.')),
  member: shape.orNull(
    shape.object({ id: shape.text('Its id.'), username: orNull.text('Its name.') }, {}, 'The owner of the key.'),
  ),
  requested: orNull.text('The model that was asked for.'),
  model: orNull.text('The model that served.'),
  provider: orNull.text('The provider that served.'),
  protocol: orNull.text('The protocol of the client.'),
  upstream_protocol: orNull.text('The protocol of the provider.'),
  stream: shape.flag('Whether the answer was streamed.'),
  status: shape.integer('The status that the client saw.'),
  result: shape.word(['completed', 'client_closed', 'refused', 'failed'], 'How it ended.'),
  error: orNull.text('The code of the error.'),
  attempts: shape.integer('Number of tries.'),
  usage: shape.orNull(tokens),
  cost: orNull.number('Its cost in USD; null: unknown.'),
  first_byte_ms: orNull.number('Milliseconds to the first byte.'),
  duration_ms: shape.number('Milliseconds to its end.'),
  reference: orNull.text('The x-request-id of its client.'),
  tier: orNull.text('The tier that smart routing chose.'),
  guarded: shape.orNull(shape.word(['denied', 'masked', 'flagged'], 'The strongest of what guards did.')),
  tags: shape.map({ type: 'string' }, 'The tags of the API key.'),
  parent: orNull.text('Id of the request that it belongs to.'),
  trace_id: orNull.text('The trace that it is a part of.'),
}

/** JSON Schema of what sums are told apart by: a name, or an id with its name; null: there is none. */
export const groupShape = {
  ...shape.object(
    {},
    {
      key: shape.orNull(shape.object({ id: shape.text('Its id.'), name: shape.text('Its name.') }, {}, 'The API key.')),
      member: shape.orNull(
        shape.object({ id: shape.text('Its id.'), username: orNull.text('Its name.') }, {}, 'The owner of the key.'),
      ),
      model: orNull.text('The model that served.'),
      provider: orNull.text('The provider that served.'),
      protocol: orNull.text('The protocol of the client.'),
      type: orNull.text('The type of the requests.'),
    },
    'What is told apart.',
  ),
  patternProperties: { '^tag:': { type: ['string', 'null'], description: 'The tag of the API key.' } },
} as const

/** JSON Schema of a request in a list. */
export const itemShape = shape.object(itemFields)

/** JSON Schema of all that is known of a request. */
export const detailShape = shape.object({
  ...itemFields,
  times: shape.map({ type: 'number' }, 'Milliseconds of its stages, by their names.'),
  spans: shape.list(
    shape.object({
      path: shape.text('Its path in the plan of the pipeline.'),
      name: shape.text('The name of the stage.'),
      at_ms: shape.number('When it began, in milliseconds since the request arrived.'),
      duration_ms: shape.number('How long it took, in milliseconds.'),
      attempt: orNull.number('The try that it belongs to, from 1; null: it belongs to none.'),
      outcome: shape.word(['ok', 'failed', 'skipped'], 'How it ended.'),
    }),
    'The steps that ran.',
  ),
  losses: shape.list(
    shape.object({ field: shape.text('The field of the request.'), because: shape.text('Why it is lost.') }),
    'What a translation lost.',
  ),
  tries: shape.list(
    shape.object({
      model: orNull.text('The model.'),
      provider: orNull.text('The provider.'),
      status: orNull.number('The status of the provider.'),
      error: orNull.text('The code of the error.'),
      duration_ms: shape.number('Milliseconds.'),
    }),
    'Every try, the one that served included.',
  ),
  routing: shape.orNull(routingShape),
  upstream: shape.orNull(
    shape.object(
      {
        id: orNull.text('Its id there.'),
        model: orNull.text('The model that the provider named.'),
        stop: orNull.text('Why it stopped.'),
      },
      {},
      'What the provider said of it.',
    ),
  ),
  error_detail: shape.orNull(
    shape.object({ message: orNull.text('Its message.'), at: orNull.text('Where it was thrown.') }, {}, 'The error.'),
  ),
  headers: shape.map({ type: 'string' }, 'Headers of the client.'),
  address: orNull.text('The IP address of the client.'),
  trace_url: orNull.text('Where its trace is shown.'),
  config_version: orNull.text('Version of the configuration that served it.'),
  children: shape.list(
    shape.object({ id: shape.text('Its id.'), type: shape.text('Its type.'), cost: orNull.number('Its cost in USD.') }),
    'The requests that belong to it.',
  ),
  charged: shape.list(
    shape.object({
      bucket: shape.word(['key', 'member', 'server'], 'Whose budget it is.'),
      usd: shape.number('What was charged to it, in USD.'),
    }),
    'What was charged.',
  ),
  feedback: shape.orNull(
    shape.object(
      {
        signal: shape.word(['ok', 'weak', 'strong'], 'What was said of the answer.'),
        comment: orNull.text('In words.'),
        at: shape.time('When.'),
      },
      {},
      'The rating of its routing decision.',
    ),
  ),
  metadata: {
    ...shape.map({}, 'What its stages noted.'),
    properties: { routing_reasoning: shape.text('The steps by which smart routing chose, in short.') },
  },
  capture: shape.orNull(
    shape.object(
      {
        request: orNull.text('The body of the request.'),
        response: orNull.text('The body of the answer.'),
        truncated: shape.flag('Whether one of them is longer than what is kept.'),
      },
      {},
      'Its captured bodies; null: there are none.',
    ),
  ),
})

/** A request as it stands in a list. Money in USD, times in milliseconds. */
export function listItem(row: ListedRow): JsonObject {
  return {
    id: row.id,
    at: timeText(row.at),
    type: row.type,
    key: row.key_id === null ? null : { id: row.key_id, name: row.key_name ?? row.key_id.replace(/^file:/, '') },
    member: row.member_id === null ? null : { id: row.member_id, username: row.member_name },
    requested: row.requested,
    model: row.model,
    provider: row.provider,
    protocol: row.protocol,
    upstream_protocol: row.upstream_protocol,
    stream: row.stream === 1,
    status: row.status,
    result: row.result,
    error: row.error,
    attempts: row.attempts,
    usage: usageOf(row),
    cost: usd(row.cost_micros),
    first_byte_ms: row.first_byte,
    duration_ms: row.duration,
    reference: row.reference,
    tier: row.tier,
    guarded: row.guarded,
    tags: (row.tags === null ? undefined : parsedObject(row.tags)) ?? {},
    parent: row.parent,
    trace_id: row.trace_id,
  }
}

/** Tokens in disjoint buckets, and their sum; null: unknown. */
function usageOf(row: ListedRow): Json {
  const { input_tokens: input, output_tokens: output } = row
  if (input === null || output === null) return null
  const buckets = {
    input,
    cache_read: row.cache_read_tokens ?? 0,
    cache_write: row.cache_write_tokens ?? 0,
    output,
    reasoning: row.reasoning_tokens ?? 0,
  }
  return { ...buckets, total: Object.values(buckets).reduce((sum, tokens) => sum + tokens, 0) }
}

function usd(micros: number | null): number | null {
  return micros === null ? null : micros / 1_000_000
}

type Label = NonNullable<Awaited<ReturnType<Services['routing_records']['label']>>>

/** All of a request but its captured bodies. */
export function detail(
  row: RequestsTable,
  {
    children,
    label,
    traceUrl,
  }: {
    readonly children: readonly ListedRow[]
    readonly label: Label | undefined
    readonly traceUrl: string | undefined
  },
): JsonObject {
  const metadata = parsedObject(row.metadata) ?? {}
  const { times: _times, laps: _laps, tries, losses, routing, charged, headers, address, ...notes } = metadata
  const { error_message: message, error_at: at, upstream_id: id, upstream_model: model, stop, ...others } = notes
  const spans = spansOf(metadata)
  return {
    ...listItem(row),
    times: timesOf(metadata),
    spans,
    losses: losses ?? [],
    tries: triesOf(row, tries, spans),
    routing: routing ?? null,
    upstream:
      id === undefined && model === undefined && stop === undefined
        ? null
        : { id: id ?? null, model: model ?? null, stop: stop ?? null },
    error_detail: message === undefined && at === undefined ? null : { message: message ?? null, at: at ?? null },
    headers: headers ?? {},
    address: address ?? null,
    trace_url: traceUrl ?? null,
    config_version: row.config_version,
    children: children.map((child) => ({ id: child.id, type: child.type, cost: usd(child.cost_micros) })),
    charged: charged ?? [],
    feedback: label ? { signal: label.signal, comment: label.comment, at: timeText(label.at) } : null,
    metadata: row.pipeline === null ? others : { ...others, pipeline: row.pipeline },
  }
}

/** Every try, the one that served included. */
function triesOf(row: RequestsTable, noted: Json | undefined, spans: readonly Span[]): Json {
  const failed = Array.isArray(noted) ? noted.filter(isObject) : []
  const serving: JsonObject = { model: row.model, provider: row.provider, status: row.status }
  const all = failed.length < row.attempts ? [...failed, serving] : failed
  return all.map(({ model = null, provider = null, status = null, code = null, duration_ms: took }, index) => {
    const own = spans.filter(({ attempt }) => attempt === index + 1)
    const sum = own.reduce((total, span) => total + span.duration_ms, 0)
    return { model, provider, status, error: code, duration_ms: took ?? Math.round(sum * 1000) / 1000 }
  })
}
