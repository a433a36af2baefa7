import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'

const text = (maxLength: number, description: string) => ({ type: 'string', maxLength, description }) as const

/** Like `verify-audit`, also against checkpoints that were kept elsewhere, such as in shipped logs. */
export default defineStage({
  name: 'compare-checkpoints',
  summary: 'Verify the audit trail, also against checkpoints that were kept elsewhere.',
  config: noConfig,
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
  } as const,
  needs: ['ingress'],
  provides: ['reply'],
  timeout: '10m',
  uses: ['audit'],
  build:
    (_config, _host, { audit }) =>
    async ({ ingress, input: { checkpoints } }) => {
      readQuery(ingress.query)
      return { reply: jsonReply({ ...(await audit.verify(checkpoints)) }) }
    },
})
