import { definePlugin } from '../../engine/index.ts'
import getModel from './get-model.ts'
import listCatalog from './list-catalog.ts'
import listModels from './list-models.ts'
import listProtocols from './list-protocols.ts'

export default definePlugin({
  name: 'listing',
  summary: 'Lists the models and protocols of the gateway.',
  stability: 'stable',
  stages: [listModels, getModel, listProtocols],
  actions: [listCatalog],
})
