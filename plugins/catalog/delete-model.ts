import { defineAction } from '../../engine/index.ts'
import { versionsIn } from '../../engine/kit.ts'
import { releasing } from './release.ts'

/** Deletes a model, unless other models or settings name it. With `force=true`, it is taken out of these first. */
export default defineAction({
  name: 'delete-model',
  summary: 'Delete a model, and take it out of what names it if the query says so.',
  route: 'DELETE /api/config/models/:name',
  access: { role: 'admin' },
  query: { force: { type: 'boolean', description: 'Whether to take it out of what names it.' } },
  errors: ['declared_in_file', 'in_use', 'invalid_configuration'],
  writes: { record: 'model' },
  async run({ params: { name }, query, ingress, by }, _services, _scope, { records }) {
    const isForced = query.flag('force') === true
    const last = { kind: 'delete', type: 'model', name, ...versionsIn(ingress) } as const
    await records.changeAll((known) => {
      const uses = isForced ? known.uses('model', name).filter((use) => use.by.name !== name) : []
      const users = new Map(uses.map((use) => [JSON.stringify([use.by.type, use.by.name]), use.by]))
      const released = [...users].map(([key, user]) =>
        releasing(
          user,
          uses.filter((use) => JSON.stringify([use.by.type, use.by.name]) === key),
        ),
      )
      return [...released, last]
    }, by)
  },
})
