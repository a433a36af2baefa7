import { GatewayError, defineAction } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { isObject, momentIn, shape, timeText } from '../../engine/kit.ts'
import { routingOf } from './decision.ts'
import type { Row } from './decision.ts'
import { laidOver } from './laid-over.ts'

const cost = shape.orNull(shape.number('The expected cost, in USD.'))

/** Answers what other settings would have decided of the latest routed requests. Nothing is called, nothing is saved. */
export default defineAction({
  name: 'replay-routing',
  summary: 'Answer what other settings would have decided of routed requests.',
  route: 'POST /api/routing/replay',
  access: { role: 'admin' },
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
      since: {
        type: 'string',
        title: 'Since',
        examples: ['2026-01-31T12:00:00Z'],
        description: 'Only requests that began since this time (RFC 3339).',
      },
      limit: {
        type: 'integer',
        title: 'Limit',
        minimum: 1,
        maximum: 1_000,
        default: 200,
        description: 'Number of the latest requests to decide again.',
      },
    },
  },
  answer: shape.object({
    rows: shape.integer('Number of requests that were decided again.'),
    changed: shape.integer('Those that were decided in another way.'),
    cost_change: shape.number('By how much the expected cost differs, in USD.'),
    data: shape.list(
      shape.object({
        request_id: shape.text('Id of the request.'),
        at: shape.time('When it began.'),
        was: shape.object(
          { model: shape.text('The model.'), tier: shape.text('The tier.'), cost_estimate: cost },
          {},
          'What was decided.',
        ),
        would: shape.object(
          {
            model: shape.orNull(shape.text('The model.')),
            tier: shape.orNull(shape.text('The tier.')),
            cost_estimate: cost,
            because: shape.text('Why.'),
          },
          {},
          'What the settings decide.',
        ),
      }),
      'The requests.',
    ),
  }),
  writes: { not: 'nothing is saved' },
  uses: ['requests', 'smart_routing', 'experience'],
  async run({ body }, { requests, smart_routing: routing, experience }, _scope, host) {
    const since = momentIn(body.since)
    if (since === undefined)
      throw new GatewayError('invalid_field', { param: 'since', reason: 'must be a date and time with its offset' })
    const settings = laidOver(body.settings as JsonObject, routing.settings, host)
    const listed = await requests.slice({ since, routed: true }, { limit: body.limit, isDescending: true })
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
    return { rows: data.length, data, changed: changed.length, cost_change: Number(cost.toPrecision(12)) }
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
