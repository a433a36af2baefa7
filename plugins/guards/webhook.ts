import { defineGuard } from '../../engine/index.ts'
import { baseUrl } from '../../engine/kit.ts'
import { litellm } from './webhook-litellm.ts'
import { portkey } from './webhook-portkey.ts'
import { sluice } from './webhook-sluice.ts'

/** Asks a service of the operator, in one of three contracts. */
export default defineGuard({
  name: 'webhook',
  summary: 'Asks a service by POST: in the contract of Sluice, of LiteLLM (generic guardrail API) or of Portkey.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['url'],
    properties: {
      url: { ...baseUrl, description: 'Address of the service.' },
      contract: {
        enum: ['sluice', 'litellm', 'portkey'],
        default: 'sluice',
        description: 'What is asked and answered: docs/guards.md has all three.',
      },
      secret: {
        type: 'string',
        minLength: 1,
        maxLength: 4_096,
        description: 'Signs each question (Standard Webhooks): `whsec_` with base64, or a text. Contract sluice.',
      },
      headers: {
        type: 'object',
        maxProperties: 100,
        additionalProperties: { type: 'string', maxLength: 8_192 },
        propertyNames: { pattern: '^[\\w!#$%&*+.^`|~-]+$', patternErrorMessage: 'must be the name of a header' },
        default: {},
        description: 'Headers of each question, such as the credentials of the service. Their values are secret.',
      },
      params: {
        type: 'object',
        additionalProperties: true,
        default: {},
        description: 'Further parameters that the service gets. Contract litellm.',
      },
    },
  } as const,
  secrets: ['secret'],
  check({ contract, secret, params }, _all, report) {
    if (secret !== undefined && contract !== 'sluice')
      report(['secret'], 'guard', `the contract ${contract} has no signature`)
    if (Object.keys(params).length > 0 && contract !== 'litellm')
      report(['params'], 'guard', `the contract ${contract} has no parameters`)
  },
  build(config, host) {
    return { sluice, litellm, portkey }[config.contract](config, host)
  },
})
