import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { isObject, jsonReply, readList, timeText } from '../../engine/kit.ts'
import { objectIn, routingOf } from './decision.ts'
import type { Row } from './decision.ts'

/** Answers the latest routed requests: how hard each one was, which model was chosen, and what that saved. */
export default defineStage({
  name: 'list-decisions',
  summary: 'List the decisions of smart routing.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['requests'],
  build:
    (_config, _host, { requests }) =>
    async ({ ingress }) => {
      const list = readList(ingress.query, {
        filters: { since: 'time', until: 'time' },
        sorts: ['at'],
        usualSort: '-at',
      })
      const { limit, after, isDescending } = list
      const [since, until] = [list.time('since'), list.time('until')]
      const unavailable = (cause: unknown) => {
        throw new GatewayError('store_unavailable', {}, { cause })
      }
      if (after && !Number.isSafeInteger(after[0])) throw new GatewayError('invalid_cursor', { param: 'cursor' })
      const slice = { limit: limit + 1, isDescending, after: after && ([Number(after[0]), after[1]] as const) }
      const listed = await requests.slice({ since, until, routed: true }, slice).catch(unavailable)
      const { data, next_cursor } = list.onePage(listed, ({ at, id }) => [at, id])
      const rows = new Map(
        (await requests.rows(data.map(({ id }) => id)).catch(unavailable)).map((row) => [row.id, row]),
      )
      const shown = data.flatMap(({ id }) => {
        const row = rows.get(id)
        const block = row && routingOf(row)
        return row && block ? [decisionOf(row, block)] : []
      })
      return { reply: jsonReply({ data: shown, next_cursor }) }
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
