import { defineStage, noConfig } from '../../engine/index.ts'
import type { RecordChange, RecordUse } from '../../engine/index.ts'
import { emptyReply, readQuery, requesterOf, versionsIn } from '../../engine/kit.ts'
import { releasing } from './release.ts'

/**
 * Deletes a provider, by the path's `:name`, unless a model has a place there. With `cascade=true`, its models are
 * deleted with it; a model with places elsewhere only loses those at the provider.
 */
export default defineStage({
  name: 'delete-provider',
  summary: 'Delete a provider, with its models if the query says so.',
  config: noConfig,
  needs: ['ingress'],
  reads: ['principal'],
  provides: ['reply'],
  build:
    (_config, { records }) =>
    async (slots, scope) => {
      const { params, query } = slots.ingress
      const cascades = readQuery(query, { cascade: 'boolean' }).flag('cascade') === true
      const name = params['name'] ?? ''
      const last = { kind: 'delete', type: 'provider', name, ...versionsIn(slots.ingress) } as const
      await records.changeAll(
        (known) => [...(cascades ? withoutProvider(known.uses('provider', name)) : []), last],
        requesterOf(scope, slots),
      )
      return { reply: emptyReply }
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
