import { definePlugin } from '../../engine/index.ts'
import apiKey from './api-key.ts'
import apiKeys from './api-keys.ts'
import keyCreate from './key-create.ts'
import keyList from './key-list.ts'
import keyRevoke from './key-revoke.ts'

export default definePlugin({
  name: 'keys',
  summary: 'The API keys of clients.',
  records: [apiKey],
  services: [apiKeys],
  commands: [keyList, keyRevoke, keyCreate],
})
