import { defineStage, noConfig } from '../../engine/index.ts'
import { emptyReply, readQuery, requesterOf, versionsIn } from '../../engine/kit.ts'
import { releasing } from './release.ts'

/**
 * Deletes a model, by the path's `:name`, unless other models or settings name it. With `force=true`, it is taken out
 * of these first.
 */
export default defineStage({
  name: 'delete-model',
  summary: 'Delete a model, and take it out of what names it if the query says so.',
  config: noConfig,
  needs: ['ingress'],
  reads: ['principal'],
  provides: ['reply'],
  build:
    (_config, { records }) =>
    async (slots, scope) => {
      const { params, query } = slots.ingress
      const isForced = readQuery(query, { force: 'boolean' }).flag('force') === true
      const name = params['name'] ?? ''
      const last = { kind: 'delete', type: 'model', name, ...versionsIn(slots.ingress) } as const
      await records.changeAll(
        (known) => {
          const uses = isForced ? known.uses('model', name).filter(({ by }) => by.name !== name) : []
          const users = new Map(uses.map(({ by }) => [JSON.stringify([by.type, by.name]), by]))
          const released = [...users].map(([key, by]) =>
            releasing(
              by,
              uses.filter((use) => JSON.stringify([use.by.type, use.by.name]) === key),
            ),
          )
          return [...released, last]
        },
        requesterOf(scope, slots),
      )
      return { reply: emptyReply }
    },
})
