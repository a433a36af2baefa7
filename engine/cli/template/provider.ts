import { pluginsLine } from './stage.ts'
import type { Template } from './stage.ts'

/** A provider that generates its own answers, whole and streamed, for clients of every protocol. */
export function providerTemplate(name: string): Template {
  return {
    text: `import { GatewayError, defineProvider } from 'sluice'

/**
 * Answers every request with one sentence. Put your own upstream in its place.
 * A provider that answers in neutral form, as here, serves clients of every protocol. One whose upstream speaks a
 * protocol that is known ("sluice list codecs") offers that protocol by name and implements "send" instead of "answer".
 */
export default defineProvider({
  name: '${name}',
  summary: 'Answers with one sentence.',
  // JSON Schema of its own fields, beside "name" and "type". It gives the TypeScript type, the defaults and the docs.
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      sentence: { type: 'string', minLength: 1, default: 'Hello from ${name}.', description: 'What it says.' },
    },
  } as const,
  // Fields whose value must never be seen: secrets: ['api_key'],
  // Fields that decide where secrets are sent, beside addresses: destinations: ['region'],
  offers: () => [{ operation: 'generate' }],
  open: ({ sentence }) => ({
    answer: {
      async *generate(request, model, scope) {
        // Errors come from the table of codes ("sluice explain code <code>"); never quote prompts or keys in them.
        if (request.items.length === 0) throw new GatewayError('invalid_request', { reason: 'There is nothing to answer.' })

        yield { type: 'start', id: scope.id, model }
        yield { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } }
        yield { type: 'part', index: 0, kind: 'text' }
        const words = sentence.split(/(?<= )/)
        for (const text of words) {
          // The client may leave at any time: stop asking your upstream then.
          scope.signal.throwIfAborted()
          yield { type: 'delta', index: 0, text }
        }
        yield { type: 'item-end', index: 0 }
        // Tokens in disjoint buckets. Leave "usage" out where your upstream does not tell.
        const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: words.length, reasoning: 0 }
        yield { type: 'finish', stop: 'end', usage }
      },
    },
  }),
})
`,
    next: (entry) => `Next: name it in the configuration,

${pluginsLine(entry)}  providers:
    - { name: my-${name}, type: ${name} }
  models:
    - { name: my-model, provider: my-${name} }

then look at it and ask it:

  sluice check
  sluice list providers ${name}`,
  }
}
