import { defineAction } from '../../engine/index.ts'
import type { RecordChange, RecordUse } from '../../engine/index.ts'
import { versionsIn } from '../../engine/kit.ts'
import { releasing } from './release.ts'

/**
 * Deletes a provider, unless a model has a place there. With `cascade=true`, its models are deleted with it; a model with
 * places elsewhere only loses those at the provider.
 */
export default defineAction({
  name: 'delete-provider',
  summary: 'Delete a provider, with its models if the query says so.',
  route: 'DELETE /api/config/providers/:name',
  access: { role: 'admin' },
  query: { cascade: { type: 'boolean', description: 'Whether to delete its models, too.' } },
  errors: ['declared_in_file', 'in_use', 'invalid_configuration'],
  writes: { record: 'provider' },
  async run({ params: { name }, query, ingress, by }, _services, _scope, { records }) {
    const cascades = query.flag('cascade') === true
    const last = { kind: 'delete', type: 'provider', name, ...versionsIn(ingress) } as const
    await records.changeAll((known) => [...(cascades ? withoutProvider(known.uses('provider', name)) : []), last], by)
  },
})

/** What becomes of the models with a place at a provider. */
function withoutProvider(uses: readonly RecordUse[]): RecordChange[] {
  const byModel = Map.groupBy(uses, ({ by }) => by.name)
  return [...byModel.values()].map((own) => {
    const [{ by: model }] = own as [RecordUse]
    const { provider, deployments } = model.value
    const places = (provider === undefined ? 0 : 1) + (deployments as readonly unknown[]).length
    if (own.length === places) return { kind: 'delete', type: model.type, name: model.name }
    return releasing(model, own)
  })
}
