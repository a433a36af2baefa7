import { GatewayError, defineStage } from '../../engine/index.ts'

/** Rejects every request that reaches it, as in a branch of a `switch` that is not served. */
export default defineStage({
  name: 'refuse',
  summary: 'Reject the request.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      status: { enum: [400, 403, 404, 422, 429], default: 403, description: 'Status of the error.' },
      message: {
        type: 'string',
        minLength: 1,
        default: 'This is not served here.',
        description: 'Message of the error.',
      },
      param: { type: 'string', minLength: 1, description: 'Field of the request that caused the error.' },
    },
  } as const,
  needs: [],
  provides: [],
  build:
    ({ status, message, param }) =>
    () => {
      throw new GatewayError('refused', {}, { status, message, ...(param === undefined ? {} : { param }) })
    },
})
