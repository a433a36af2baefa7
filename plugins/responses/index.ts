import { definePlugin } from '../../engine/index.ts'
import errors from './error-codes.ts'
import responses from './codec.ts'
import compact from './compact.ts'
import inputTokens from './input-tokens.ts'
import background from './stored/background.ts'
import cancelResponse from './stored/cancel-response.ts'
import checkStorage from './stored/check-storage.ts'
import compactLocally from './stored/compact-locally.ts'
import deleteResponse from './stored/delete-response.ts'
import forget from './stored/forget.ts'
import listInputItems from './stored/list-input-items.ts'
import prepareResponse from './stored/prepare-response.ts'
import recall from './stored/recall.ts'
import resumeResponse from './stored/resume-response.ts'
import retrieveResponse from './stored/retrieve-response.ts'
import settleResponse from './stored/settle-response.ts'
import storedResponses from './stored/stored-responses.ts'
import store from './stored/store.ts'

export default definePlugin({
  name: 'responses',
  summary: 'The responses protocol, and the stored responses of its clients.',
  stability: 'stable',
  errors,
  stages: [
    compactLocally,
    prepareResponse,
    recall,
    store,
    forget,
    retrieveResponse,
    deleteResponse,
    listInputItems,
    background,
    resumeResponse,
    checkStorage,
    settleResponse,
    cancelResponse,
  ],
  codecs: [responses, compact, inputTokens],
  services: [storedResponses],
})
