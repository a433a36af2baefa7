import { defineStage, noConfig } from '../../engine/index.ts'
import type { Json, ModelRecord } from '../../engine/index.ts'
import { entryOf, isListed, readsMessages, replyOf } from './entry.ts'

/** Lists the models that the key may use, in the order of the configuration, all on one page. */
export default defineStage({
  name: 'list-models',
  summary: 'List the models that the key may use.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build:
    (_, { catalog }) =>
    ({ ingress, principal }) => {
      const models = catalog.models.filter((model) => isListed(model, principal, catalog))
      return { reply: replyOf(readsMessages(ingress) ? messagesPage(models) : list(models)) }
    },
})

function list(models: readonly ModelRecord[]): Json {
  return { object: 'list', data: models.map((model) => entryOf(model, false)) }
}

function messagesPage(models: readonly ModelRecord[]): Json {
  return {
    data: models.map((model) => entryOf(model, true)),
    first_id: models[0]?.name ?? null,
    last_id: models.at(-1)?.name ?? null,
    has_more: false,
  }
}
