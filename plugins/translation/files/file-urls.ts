import { defineService } from '../../../engine/index.ts'
import { durationSchema, isTooShort, tooShort } from '../../../engine/kit.ts'
import type { ConfigOf } from '../../../engine/index.ts'

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'Limits on what clients can make the gateway do.',
  properties: {
    file_urls: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'Files that clients send as URLs, for providers that accept only bytes.',
      properties: {
        fetch: { type: 'boolean', default: true, description: 'Fetch them; if false, such a request is rejected.' },
        allow_private: {
          type: 'boolean',
          default: false,
          description:
            'Also fetch from private networks and this machine, and from any port. Only for gateways whose clients may read what is there.',
        },
        max_bytes: {
          type: 'integer',
          minimum: 1,
          maximum: 67_108_864,
          default: 20_971_520,
          'x-unit': 'bytes',
          description: 'Most bytes of one file.',
        },
        timeout: {
          ...durationSchema,
          default: '10s',
          description: 'Timeout for fetching all files of a request.',
        },
      },
    },
  },
} as const

declare module '../../../engine/index.ts' {
  interface Services {
    file_urls: ConfigOf<typeof settings>
  }
}

export default defineService({
  name: 'file_urls',
  section: 'security',
  summary: 'Policy for the files that the gateway fetches for clients.',
  settings,
  check({ file_urls: { fetch, allow_private: isPrivate, timeout } }, report, _records, { isReachable }) {
    if (isTooShort(timeout)) report(['file_urls', 'timeout'], tooShort, 'timeout', 'warning')
    if (!fetch && isPrivate)
      report(['file_urls', 'allow_private'], 'has no effect while nothing is fetched', 'service', 'warning')
    if (fetch && isPrivate && isReachable)
      report(
        ['file_urls', 'allow_private'],
        'lets every client of the gateway, which other machines can reach, read what only this machine and its network should',
        'open-door',
        'warning',
      )
  },
})
