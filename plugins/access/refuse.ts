import { GatewayError, defineStage } from '../../engine/index.ts'
import { duration, durationSchema } from '../../engine/kit.ts'

/** Rejects every request that reaches it, as in a branch of a `switch` that is not served. Its path ends here. */
export default defineStage({
  name: 'refuse',
  summary: 'Reject the request. The path ends here.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      status: { enum: [400, 403, 404, 410, 422, 429, 503], default: 403, description: 'Status of the error.' },
      message: {
        type: 'string',
        minLength: 1,
        description: 'Message of the error. Unset: that it is not served here, and with 503 that it is not served now.',
      },
      param: { type: 'string', minLength: 1, description: 'Field of the request that caused the error.' },
      retry_after: {
        ...durationSchema,
        'x-minimum': '1s',
        'x-maximum': '30d',
        description: 'When clients may ask again, in the header retry-after, with status 429 and 503.',
      },
    },
  } as const,
  needs: [],
  provides: [],
  ends: true,
  check({ status, retry_after: wait }, _services, report) {
    if (wait !== undefined && !isForNow(status))
      report(['retry_after'], `belongs to status 429 and 503; clients that get ${status} do not ask again`)
  },
  build({ status, message = usual(status), param, retry_after: wait }) {
    const options = {
      status,
      message,
      ...(status < 500 ? {} : { type: 'server_error' }),
      ...(param === undefined ? {} : { param }),
      ...(wait === undefined ? {} : { retryAfter: Math.ceil(duration(wait) / 1_000) }),
    }
    return () => {
      throw new GatewayError('refused', {}, options)
    }
  },
})

function usual(status: number): string {
  return status === 503 ? 'This is not served now; try again later.' : 'This is not served here.'
}

/** Whether a status says that the same request may be served later. */
function isForNow(status: number): boolean {
  return status === 429 || status === 503
}
