import { definePlugin } from '../../engine/index.ts'
import model from './model.ts'
import provider from './provider.ts'

export default definePlugin({
  name: 'catalog',
  summary: 'The records of models, and of the providers that serve them.',
  records: [provider, model],
})
