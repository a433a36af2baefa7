import { defineGuard, definePlugin } from 'sluice'
import type { Judged } from 'sluice'
import { asText, asking, isObject, replyJson } from 'sluice/kit'

/** Asks a Llama Guard model of the gateway, which answers "safe", or "unsafe" and the categories in the next line. */
const llamaGuard = defineGuard({
  name: 'llama-guard',
  summary: 'Asks a Llama Guard model of the gateway about requests and answers.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['model'],
    properties: {
      model: { type: 'string', 'x-names': 'model', description: 'The Llama Guard model.' },
      categories: {
        type: 'array',
        minItems: 1,
        items: { type: 'string', pattern: '^S\\d+$', patternErrorMessage: 'must be a category such as S1' },
        description: 'Categories that count; unset: all.',
      },
    },
  } as const,
  build({ model, categories }, host) {
    return async (judged, scope) => {
      if (judged.texts.length === 0) return { hit: false }
      // The stages behind guard-chat ask a model for a guard. No key pays.
      const body = { model, messages: messagesOf(judged), temperature: 0, max_tokens: 64 }
      const ingress = asking({ protocol: 'chat', body })
      const { outcome, reply } = await host.dispatch('guard-chat', { ingress }, scope, { deadline: scope.timeout })
      if (outcome.error || !reply) throw new Error('its model failed')
      const found = categoriesIn(replyJson(reply)).filter((one) => categories?.includes(one) !== false)
      return found[0] === undefined ? { hit: false } : { hit: true, category: found[0] }
    }
  },
})

/** The chat template of Llama Guard asks about the last message: one of the user, or an answer to one. */
function messagesOf({ texts, side, request }: Judged) {
  const said = texts.map(({ text }) => text).join('\n\n')
  if (side === 'input') return [{ role: 'user', content: said }]
  const asked = request.neutral?.().items.findLast((item) => item.type === 'message' && item.role === 'user')
  const parts = asked?.type === 'message' ? asked.content.filter((part) => part.type === 'text') : []
  return [
    { role: 'user', content: parts.map(({ text }) => text).join('\n\n') || '-' },
    { role: 'assistant', content: said },
  ]
}

function categoriesIn(answer: unknown): readonly string[] {
  const [choice] = isObject(answer) && Array.isArray(answer['choices']) ? (answer['choices'] as unknown[]) : []
  const message = isObject(choice) ? choice['message'] : undefined
  const said = isObject(message) ? asText(message['content']).trim() : ''
  if (said === 'safe') return []
  const [, list] = /^unsafe\s+(S\d+(?:\s*,\s*S\d+)*)$/.exec(said) ?? []
  if (list === undefined) throw new Error('its answer is neither "safe" nor "unsafe" with categories')
  return list.split(/\s*,\s*/)
}

export default definePlugin({ name: 'llama-guard', summary: 'Guards by Llama Guard.', guards: [llamaGuard] })
