import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  previous_response_not_found: {
    status: 400,
    message: 'Previous response with id "{id}" not found.',
    advice: 'Start a new chain with the whole conversation: responses are kept for 24 hours.',
  },
  invalid_encrypted_content: {
    status: 400,
    message: 'The encrypted content at {param} cannot be read here.',
    advice: 'Send sealed content back unchanged, with the API key that received it.',
  },
  response_not_found: {
    status: 404,
    message: 'Response with id "{id}" not found.',
    advice: 'Responses are kept for 24 hours, per API key, unless store is false.',
  },
  response_not_cancellable: {
    status: 409,
    message: '{reason}',
    advice: 'Only a response that runs in the background can be cancelled.',
  },
  storage_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'This API key cannot store another response: {reason}',
    advice: 'Delete stored responses, send "store": false, or raise server_config.request_policy.stored_responses.',
  },
  redis_not_available: {
    status: 503,
    message: 'Background responses need the shared key-value store: {reason}.',
    advice: 'Configure key_value, and ask with an API key.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
