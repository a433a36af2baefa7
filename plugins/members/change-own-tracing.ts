import { defineAction } from '../../engine/index.ts'
import { patchSchema } from '../../engine/kit.ts'
import { tracingShape } from './show-own-tracing.ts'

const body = patchSchema({
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: {
      type: 'boolean',
      title: 'Tracing',
      default: false,
      description:
        'Whether rows of the own keys tell how they were routed, and every try in full. Prompts are never kept.',
    },
  },
})

/** Switches the tracing of the requests of the member who asks. */
export default defineAction({
  name: 'change-own-tracing',
  summary: 'Switch the tracing of the requests of the member who asks.',
  route: 'PATCH /api/me/tracing',
  access: { role: 'any' },
  body,
  answer: tracingShape,
  writes: 'own audit row',
  uses: ['team'],
  async run({ body: { enabled }, principal, by }, { team }) {
    // Null restores the default.
    const own = enabled === undefined ? {} : { tracing: enabled === true }
    const { tracing } = await team.changeOwn(principal.id, { ...own, action: 'me.tracing' }, { by })
    return { enabled: tracing !== 0 }
  },
})
