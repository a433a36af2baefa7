import { GatewayError, defineStage } from '../../engine/index.ts'

/** Refuses whatever comes to it: an arm of a `switch` that is not served. */
export default defineStage({
  name: 'refuse',
  summary: 'Refuse the request.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      status: { enum: [400, 403, 404, 422, 429], default: 403, description: 'The status of the refusal.' },
      message: {
        type: 'string',
        minLength: 1,
        default: 'This is not served here.',
        description: 'What the client reads.',
      },
      param: { type: 'string', minLength: 1, description: 'The field of the request that is to blame.' },
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
