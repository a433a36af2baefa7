import { defineAction } from '../../engine/index.ts'
import { shape } from '../../engine/kit.ts'
import { ownRow } from './own-account.ts'

/** JSON Schema of whether requests are traced. */
export const tracingShape = shape.object({ enabled: shape.flag('Whether the requests are traced.') })

/** Answers whether the requests of the member who asks are traced. */
export default defineAction({
  name: 'show-own-tracing',
  summary: 'Answer whether the requests of the member who asks are traced.',
  route: 'GET /api/me/tracing',
  access: { role: 'any' },
  answer: tracingShape,
  uses: ['team'],
  run: async ({ principal }, { team }) => ({ enabled: (await ownRow(team, principal)).tracing !== 0 }),
})
