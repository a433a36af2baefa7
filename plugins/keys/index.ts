import { definePlugin } from '../../engine/index.ts'
import errors from './error-codes.ts'
import apiKey from './api-key.ts'
import apiKeys from './api-keys.ts'
import { changeApiKey } from './change-api-key.ts'
import { createApiKey } from './create-api-key.ts'
import { deleteApiKey } from './delete-api-key.ts'
import getApiKey from './get-api-key.ts'
import keyCreate from './key-create.ts'
import keyList from './key-list.ts'
import keyRevoke from './key-revoke.ts'
import keyRotate from './key-rotate.ts'
import { listApiKey } from './list-api-key.ts'
import resetApiKeyBudget from './reset-api-key-budget.ts'
import { rotateApiKey } from './rotate-api-key.ts'
import keyPolicy from './key-policy.ts'

export default definePlugin({
  name: 'keys',
  summary: 'The API keys of clients.',
  stability: 'stable',
  errors,
  records: [apiKey],
  services: [apiKeys, keyPolicy],
  actions: [
    getApiKey,
    resetApiKeyBudget,
    ...(['all', 'own'] as const).flatMap((of) => [
      listApiKey(of),
      createApiKey(of),
      changeApiKey(of),
      deleteApiKey(of),
      rotateApiKey(of),
    ]),
  ],
  commands: [keyList, keyRevoke, keyRotate, keyCreate],
})
