import { definePlugin } from '../../engine/index.ts'
import getModel from './get-model.ts'
import listModels from './list-models.ts'
import listProtocols from './list-protocols.ts'

export default definePlugin({
  name: 'listing',
  summary: 'What can be asked of the gateway: models and protocols.',
  stages: [listModels, getModel, listProtocols],
})
