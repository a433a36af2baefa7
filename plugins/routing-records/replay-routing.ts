import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { isObject, jsonReply, momentIn, readQuery, timeText } from '../../engine/kit.ts'
import { routingOf } from './decision.ts'
import type { Row } from './decision.ts'
import { laidOver } from './laid-over.ts'

/** Answers what other settings would have decided of the latest routed requests. Nothing is called, nothing is saved. */
export default defineStage({
  name: 'replay-routing',
  summary: 'Answer what other settings would have decided of routed requests.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['requests', 'smart_routing', 'experience'],
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['settings', 'since'],
    properties: {
      settings: {
        type: 'object',
        title: 'Settings',
        description: 'Settings of smart routing to try, as a merge patch over those that run.',
      },
      since: { type: 'string', title: 'Since', description: 'Only requests that began since this time (RFC 3339).' },
      limit: {
        type: 'integer',
        title: 'Limit',
        minimum: 1,
        maximum: 1_000,
        default: 200,
        description: 'Number of the latest requests to decide again.',
      },
    },
  } as const,
  build:
    (_config, host, { requests, smart_routing: routing, experience }) =>
    async ({ input, ingress }) => {
      readQuery(ingress.query)
      const since = momentIn(input.since)
      if (since === undefined)
        throw new GatewayError('invalid_field', { param: 'since', reason: 'must be a date and time with its offset' })
      const settings = laidOver(input.settings as JsonObject, routing.settings, host)
      const listed = await requests.slice({ since, routed: true }, { limit: input.limit, isDescending: true })
      const rows = new Map((await requests.rows(listed.map(({ id }) => id))).map((row) => [row.id, row]))
      const data = listed.flatMap(({ id }) => {
        const row = rows.get(id)
        const block = row && routingOf(row)
        const would = block && routing.replay({ id, block }, { settings, experience })
        return row && block && would ? [comparedTo(row, block, would)] : []
      })
      const changed = data.filter(({ was, would }) => was.model !== would.model || was.tier !== would.tier)
      const differences = data.map(({ was, would }) =>
        was.cost_estimate === null || would.cost_estimate === null ? 0 : would.cost_estimate - was.cost_estimate,
      )
      const cost = differences.reduce((sum, one) => sum + one, 0)
      const value = { rows: data.length, data, changed: changed.length, cost_change: Number(cost.toPrecision(12)) }
      return { reply: jsonReply(value) }
    },
})

function comparedTo(
  { id, at }: Row,
  { chosen, tier, estimate }: JsonObject,
  would: {
    readonly model: string | null
    readonly tier: string | null
    readonly cost: number | null
    readonly because: string
  },
) {
  const cost = isObject(estimate) ? estimate['cost'] : undefined
  return {
    request_id: id,
    at: timeText(at),
    was: {
      model: chosen as string,
      tier: tier as string,
      cost_estimate: typeof cost === 'number' ? cost : null,
    },
    would: { model: would.model, tier: would.tier, cost_estimate: would.cost, because: would.because },
  }
}
