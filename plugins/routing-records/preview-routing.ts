import { GatewayError, defineAction } from '../../engine/index.ts'
import type { JsonObject, Principal, Services } from '../../engine/index.ts'
import { laidOver } from './laid-over.ts'
import { nobody, routed } from './previewing.ts'
import { previewShape } from './shown-preview.ts'

/** Answers how a request for a virtual model would be routed, without a call of any model. */
export default defineAction({
  name: 'preview-routing',
  summary: 'Answer how a request for a virtual model would be routed.',
  route: 'POST /api/routing/preview',
  access: { role: 'admin' },
  bodyLimit: 20 * 1024 * 1024,
  body: {
    type: 'object',
    additionalProperties: false,
    examples: [{ model: 'auto', prompt: 'Hello.' }],
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
  },
  answer: previewShape,
  errors: ['invalid_reference', 'invalid_value'],
  writes: { not: 'nothing is served' },
  uses: ['api_keys', 'smart_routing'],
  runs: { 'routing-preview': { inputs: ['ingress', 'principal', 'preview'], gives: ['candidates'] } },
  async run({ body }, { api_keys: keys, smart_routing: routing }, scope, host) {
    const { protocol, request, model, prompt, key, seed, request_id: id, settings } = body
    if (request !== undefined && (model !== undefined || prompt !== undefined))
      throw new GatewayError('invalid_field', { param: 'request', reason: 'must not stand beside model and prompt' })
    return routed((given) => host.dispatch('routing-preview', given, scope), {
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
  },
})

/** The holder of an API key. */
function holderOf(key: string, keys: Pick<Services['api_keys'], 'named'>): Principal {
  const holder = keys.named(key)
  if (holder) return holder
  throw new GatewayError('invalid_reference', { param: 'key', reason: 'names no API key' })
}
