import { GatewayError, defineStage } from '../../engine/index.ts'
import type { JsonObject, Principal, Services } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'
import { laidOver } from './laid-over.ts'
import { nobody, routed } from './previewing.ts'

/** Answers how a request for a virtual model would be routed, without a call of any model. */
export default defineStage({
  name: 'preview-routing',
  summary: 'Answer how a request would be routed.',
  config: {
    type: 'object',
    additionalProperties: false,
    examples: [{ pipeline: 'routing-preview' }],
    required: ['pipeline'],
    properties: {
      pipeline: {
        type: 'string',
        'x-names': 'pipeline',
        'x-inputs': ['ingress', 'principal', 'preview'],
        'x-gives': ['candidates'],
        description: 'Pipeline that routes the request.',
      },
    },
  } as const,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['api_keys', 'smart_routing'],
  bodyLimit: 20 * 1024 * 1024,
  body: {
    type: 'object',
    additionalProperties: false,
    anyOfErrorMessage: 'must have "request", or "model" and "prompt"',
    anyOf: [{ required: ['request'] }, { required: ['model', 'prompt'] }],
    properties: {
      protocol: {
        type: 'string',
        title: 'Protocol',
        enum: ['chat', 'messages', 'responses'],
        default: 'chat',
        description: 'Protocol of the request.',
      },
      request: { type: 'object', title: 'Request', description: 'The body of the request, for fast, auto or best.' },
      model: { type: 'string', title: 'Model', description: 'In place of a request: fast, auto or best.' },
      prompt: { type: 'string', title: 'Prompt', description: 'In place of a request: what the user says.' },
      key: { type: 'string', title: 'API key', description: 'Name of the API key that would send it; absent: none.' },
      seed: { type: 'string', title: 'Seed', maxLength: 256, description: 'In place of the seed of the settings.' },
      request_id: {
        type: 'string',
        title: 'Request id',
        minLength: 1,
        maxLength: 128,
        description: 'Id from which lots are drawn, such as that of an earlier request.',
      },
      settings: {
        type: 'object',
        title: 'Settings',
        description: 'Settings of smart routing to try, as a merge patch over those that run.',
      },
    },
  } as const,
  build:
    ({ pipeline }, host, { api_keys: keys, smart_routing: routing }) =>
    async ({ input, ingress }, scope) => {
      readQuery(ingress.query)
      const { protocol, request, model, prompt, key, seed, request_id: id, settings } = input
      if (request !== undefined && (model !== undefined || prompt !== undefined))
        throw new GatewayError('invalid_field', { param: 'request', reason: 'must not stand beside model and prompt' })
      const value = await routed((given) => host.dispatch(pipeline, given, scope), {
        protocol: request === undefined ? 'chat' : protocol,
        body: (request as JsonObject | undefined) ?? {
          model: model ?? '',
          messages: [{ role: 'user', content: prompt ?? '' }],
        },
        param: request === undefined ? '' : 'request.',
        principal: key === undefined ? nobody : holderOf(key, keys),
        preview: {
          ...(settings && { settings: laidOver(settings as JsonObject, routing.settings, host) }),
          ...(seed !== undefined && { seed }),
          ...(id !== undefined && { id }),
        },
      })
      return { reply: jsonReply(value) }
    },
})

/** The holder of an API key. */
function holderOf(key: string, keys: Pick<Services['api_keys'], 'named'>): Principal {
  const holder = keys.named(key)
  if (holder) return holder
  throw new GatewayError('invalid_reference', { param: 'key', reason: 'names no API key' })
}
