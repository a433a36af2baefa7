import { defineAction } from '../../engine/index.ts'
import type { AnyGuard, JsonObject } from '../../engine/index.ts'
import { formOf, shape } from '../../engine/kit.ts'
import { guardFields } from './guard-record.ts'

/** Answers every kind of guard, with the schema of a guard of this kind as a form. */
export default defineAction({
  name: 'list-guard-kinds',
  summary: 'Answer every kind of guard, with the schema of its guards as a form.',
  route: 'GET /api/guards/kinds',
  access: { role: 'admin' },
  answer: shape.all(
    shape.object({
      kind: shape.text('Name of the kind.'),
      summary: shape.text('What it finds.'),
      schema: shape.json('JSON Schema of a guard of this kind, for a form. Its own fields are in `config`.'),
    }),
  ),
  uses: ['guards'],
  run: (_input, { guards }) => ({ data: guards.kinds.map(wireOf) }),
})

const { kind: _kind, ...common } = guardFields

function wireOf({ name, summary, config, secrets }: AnyGuard): JsonObject {
  const form = formOf({ type: 'object', required: ['name'], properties: { ...common, config } }, secrets)
  return { kind: name, summary, schema: form }
}
