import { GatewayError, defineAction } from '../../engine/index.ts'
import { shape } from '../../engine/kit.ts'

/** Posts a test to a target, once, and answers how that went. */
export default defineAction({
  name: 'test-notifications',
  summary: 'Post a test to a target.',
  route: 'POST /api/notifications/test',
  access: { role: 'admin' },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['to'],
    examples: [{ to: 'ops' }],
    properties: { to: { type: 'string', minLength: 1, maxLength: 64, description: 'Name of the target.' } },
  },
  answer: shape.object({
    delivered: shape.flag('Whether the target has taken it.'),
    status: shape.orNull(shape.integer('The status of its answer; null: there was none.')),
    problem: shape.orNull(shape.text('Why it was not delivered.')),
  }),
  errors: ['invalid_reference'],
  writes: { not: 'a test changes nothing' },
  uses: ['notifications'],
  async run({ body: { to } }, { notifications }) {
    const target = notifications.targets.find(({ name }) => name === to)
    if (target === undefined)
      throw new GatewayError(
        'invalid_reference',
        { param: 'to' },
        { param: 'to', message: `There is no target "${to}".` },
      )
    return { ...(await notifications.test(target)) }
  },
})
