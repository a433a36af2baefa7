import { definePlugin } from '../../engine/index.ts'
import errors from './error-codes.ts'
import deleteModel from './delete-model.ts'
import deleteProvider from './delete-provider.ts'
import listModelNames from './list-model-names.ts'
import listProviderTypes from './list-provider-types.ts'
import listUpstreamModels from './list-upstream-models.ts'
import model from './model.ts'
import priceLists from './price-lists.ts'
import provider from './provider.ts'
import revealKey from './reveal-key.ts'
import secretReveal from './secret-reveal.ts'
import { syncModels } from './sync-models.ts'
import testProvider from './test-provider.ts'

export default definePlugin({
  name: 'catalog',
  summary: 'The records of models, and of the providers that serve them.',
  stability: 'stable',
  errors,
  records: [provider, model],
  services: [priceLists, secretReveal],
  actions: [
    deleteProvider,
    deleteModel,
    listModelNames,
    listProviderTypes,
    listUpstreamModels,
    revealKey,
    testProvider,
    syncModels('pricing'),
    syncModels('metadata'),
  ],
})
