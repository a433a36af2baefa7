import { defineAction } from '../../engine/index.ts'
import { verdict } from './verify-audit.ts'

const text = (maxLength: number, description: string) => ({ type: 'string', maxLength, description }) as const

/** Like `verify-audit`, also against checkpoints that were kept elsewhere, such as in shipped logs. */
export default defineAction({
  name: 'compare-checkpoints',
  summary: 'Verify the audit trail, also against checkpoints that were kept elsewhere.',
  route: 'POST /api/logs/audit/verify',
  access: { role: 'admin' },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['checkpoints'],
    properties: {
      checkpoints: {
        type: 'array',
        title: 'Checkpoints',
        maxItems: 10_000,
        description: 'Checkpoints of the process log.',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['sequence', 'hash', 'at', 'mac'],
          properties: {
            sequence: { type: 'integer', minimum: 1, description: 'Number of the row.' },
            hash: text(64, 'Hash of the row, in hex.'),
            at: text(40, 'Time of the row.'),
            mac: text(64, 'Signature of the gateway, in hex.'),
          },
        },
      },
    },
  },
  answer: verdict,
  writes: { not: 'it only reads the trail' },
  timeout: '10m',
  uses: ['audit'],
  run: ({ body: { checkpoints } }, { audit }) => audit.verify(checkpoints),
})
