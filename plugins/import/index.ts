import { definePlugin } from '../../engine/index.ts'
import importLitellm from './import-litellm.ts'

export default definePlugin({
  name: 'import',
  summary: 'Takes over the configuration and the keys of other gateways.',
  commands: [importLitellm],
})
