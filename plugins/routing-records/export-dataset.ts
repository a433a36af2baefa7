import { GatewayError, defineAction } from '../../engine/index.ts'
import type { Query } from '../../engine/kit.ts'
import { momentIn, pull, shape, timeText } from '../../engine/kit.ts'
import { feedback, firstOf, judged, merged } from './corpora.ts'
import type { Line, Sources } from './corpora.ts'

const formats = ['feedback', 'judge_shadow', 'all'] as const

type Format = (typeof formats)[number]

/** Most rows of each corpus in an export. */
const most = 50_000

/**
 * Answers what smart routing can be trained and measured with, a JSON object per line, in the order in which the requests
 * began. The audit trail tells who took it.
 */
export default defineAction({
  name: 'export-dataset',
  summary: 'Answer rated and judged routing decisions, one per line.',
  route: 'GET /api/routing/export/dataset',
  access: { role: 'admin' },
  query: {
    format: { enum: formats, default: 'all', description: 'Which decisions.' },
    since: { type: 'string', description: 'Earliest start of the requests: a time, or milliseconds since 1970.' },
    limit: { type: 'string', description: `Most lines: 1 to ${most}.` },
  },
  stream: 'lines',
  answer: shape.map({}, 'A rated or judged decision.'),
  uses: ['requests', 'routing_records', 'smart_routing', 'audit'],
  async run({ query, by }, { requests, routing_records: records, smart_routing: routing, audit }) {
    const format = (onlyOne(query, 'format') ?? 'all') as Format
    const [since, limit] = [sinceOf(query), limitOf(query)]
    await audit.record({
      action: 'routing.export',
      by,
      details: { format, since: since === undefined ? null : timeText(since), limit },
    })
    const sources = { requests, routing_records: records, budget: routing.settings.judge.ask_budget_chars }
    const lines = await begun(linesOf(format, sources, since ?? 0, limit))
    return pull(written(lines))
  },
})

function linesOf(format: Format, sources: Sources, since: number, limit: number): AsyncGenerator<Line> {
  if (format === 'feedback') return firstOf(feedback(sources, since), limit)
  if (format === 'judge_shadow') return firstOf(judged(sources, since), limit)
  return firstOf(merged(feedback(sources, since), judged(sources, since)), limit)
}

/** The same lines once the first one is read: after it, a database that fails can only cut the answer off. */
async function begun(lines: AsyncGenerator<Line>): Promise<AsyncIterable<Line>> {
  try {
    const first = await lines.next()
    return (async function* () {
      if (first.done) return
      yield first.value
      yield* lines
    })()
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : new GatewayError('store_unavailable', {}, { cause })
  }
}

async function* written(lines: AsyncIterable<Line>): AsyncGenerator<Uint8Array> {
  for await (const { value } of lines) yield Buffer.from(`${JSON.stringify(value)}\n`)
}

/** Milliseconds since 1970, written so or as a date and time. */
function sinceOf(query: Query): number | undefined {
  const text = onlyOne(query, 'since')
  if (text === undefined) return undefined
  const since = /^\d{1,15}$/.test(text) ? Number(text) : momentIn(text)
  // A time that no date can show.
  if (since === undefined || since > 8.64e15)
    throw wrong('since', 'must be a date and time with its offset, such as 2027-01-31T12:00:00Z, or milliseconds')
  return since
}

function limitOf(query: Query): number {
  const text = onlyOne(query, 'limit') ?? String(most)
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > most) throw wrong('limit', `must be a whole number from 1 to ${most}`)
  return limit
}

function onlyOne(query: Query, name: string): string | undefined {
  if ((query.values(name) ?? []).length > 1) throw wrong(name, 'must not be repeated')
  return query.text(name)
}

function wrong(param: string, reason: string): GatewayError {
  return new GatewayError('invalid_field', { param, reason })
}
