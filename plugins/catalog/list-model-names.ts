import { defineAction } from '../../engine/index.ts'
import { shape, virtualModels } from '../../engine/kit.ts'

/** Answers every name that a request can have as its model. */
export default defineAction({
  name: 'list-model-names',
  summary: 'Answer every name that a request can have as its model.',
  route: 'GET /api/config/models/names',
  access: { role: 'admin' },
  answer: shape.all(
    shape.object({
      name: shape.text('Name of the model.'),
      aliases: shape.list({ type: 'string' }, 'Its further names.'),
      virtual: shape.flag('Whether smart routing chooses a model for it.'),
    }),
  ),
  uses: ['smart_routing'],
  run(_input, { smart_routing: routing }, _scope, { catalog }) {
    const virtual = routing.enabled ? virtualModels.map((name) => ({ name, aliases: [], virtual: true })) : []
    return { data: [...virtual, ...catalog.models.map(({ name, aliases }) => ({ name, aliases, virtual: false }))] }
  },
})
