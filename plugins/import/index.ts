import { definePlugin } from '../../engine/index.ts'
import importBifrost from './import-bifrost.ts'
import importLitellm from './import-litellm.ts'
import importPortkey from './import-portkey.ts'

export default definePlugin({
  name: 'import',
  summary: 'Takes over the configuration and the keys of other gateways.',
  commands: [importLitellm, importPortkey, importBifrost],
})
