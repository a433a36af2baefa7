import { GatewayError, defineAction } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { isObject, listOf, pageOf, shape, tiers, timeText, virtualModels } from '../../engine/kit.ts'
import { objectIn, routingOf } from './decision.ts'
import type { Row } from './decision.ts'

const orNull = {
  text: (description: string) => shape.orNull(shape.text(description)),
  number: (description: string) => shape.orNull(shape.number(description)),
}

const decision = shape.object({
  request_id: shape.text('Id of the request.'),
  at: shape.time('When it began.'),
  mode: shape.orNull(shape.word(virtualModels, 'The virtual model.')),
  tier: shape.orNull(shape.word(tiers, 'How hard it is.')),
  complexity: orNull.number('How hard it is, from 0 to 1.'),
  benefit: orNull.number('What a better model would gain, from 0 to 1.'),
  confidence: orNull.number('How sure that is.'),
  chosen: orNull.text('The model that was chosen.'),
  served: orNull.text('The model that answered.'),
  explored: shape.flag('Whether the choice was a lot.'),
  cost_estimate: orNull.number('The expected cost, in USD.'),
  cost: orNull.number('The cost, in USD.'),
  savings: orNull.number('What the choice saved, in USD.'),
  judge: shape.orNull(
    shape.object(
      {
        verdict: orNull.text('The tier that it named.'),
        shadow: shape.flag('Whether it had no effect on purpose.'),
        applied: shape.flag('Whether it changed the choice.'),
        held: shape.flag('Whether an earlier verdict was used.'),
        latency_ms: orNull.number('How long it took, in milliseconds.'),
        cost: orNull.number('What it cost, in USD.'),
        error: orNull.text('Why it said nothing.'),
      },
      {},
      'What the judge said; null: it was not asked.',
    ),
  ),
  error: orNull.text('Why no model was chosen.'),
})

const time = (description: string) => ({ type: 'string', format: 'date-time', description }) as const

/** Answers the latest routed requests: how hard each one was, which model was chosen, and what that saved. */
export default defineAction({
  name: 'list-decisions',
  summary: 'Answer a page of the decisions of smart routing.',
  route: 'GET /api/routing/decisions',
  access: { role: 'admin' },
  query: listOf({
    filters: { since: time('Earliest start.'), until: time('Latest start, excluded.') },
    sorts: ['at'],
    usual: '-at',
  }),
  answer: pageOf(decision),
  errors: ['invalid_cursor'],
  uses: ['requests'],
  async run({ query: list }, { requests }) {
    const { limit, after, isDescending } = list
    const [since, until] = [list.time('since'), list.time('until')]
    const unavailable = (cause: unknown) => {
      throw new GatewayError('store_unavailable', {}, { cause })
    }
    if (after && !Number.isSafeInteger(after[0])) throw new GatewayError('invalid_cursor', { param: 'cursor' })
    const slice = { limit: limit + 1, isDescending, after: after && ([Number(after[0]), after[1]] as const) }
    const listed = await requests.slice({ since, until, routed: true }, slice).catch(unavailable)
    const { data, next_cursor } = list.onePage(listed, ({ at, id }) => [at, id])
    const rows = new Map((await requests.rows(data.map(({ id }) => id)).catch(unavailable)).map((row) => [row.id, row]))
    const shown = data.flatMap(({ id }) => {
      const row = rows.get(id)
      const block = row && routingOf(row)
      return row && block ? [decisionOf(row, block)] : []
    })
    return { data: shown, next_cursor }
  },
})

/** Money in USD; what is not known is null. */
function decisionOf({ id, at }: Row, block: JsonObject): JsonObject {
  const { mode = null, tier = null, complexity = null, benefit = null, confidence = null } = block
  const { chosen = null, served = null, explored = false, error = null } = block
  const [estimate, actual] = [objectIn(block['estimate']), objectIn(block['actual'])]
  return {
    request_id: id,
    at: timeText(at),
    mode,
    tier,
    complexity,
    benefit,
    confidence,
    chosen,
    served,
    explored,
    cost_estimate: estimate['cost'] ?? null,
    cost: actual['cost'] ?? null,
    savings: actual['savings'] ?? null,
    judge: isObject(block['judge']) ? judgeOf(block['judge']) : null,
    error,
  }
}

function judgeOf(judge: JsonObject): JsonObject {
  const { verdict = null, shadow = false, applied = false, held = false } = judge
  const { latency_ms = null, cost = null, error = null } = judge
  return { verdict, shadow, applied, held, latency_ms, cost, error }
}
