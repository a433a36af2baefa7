import { defineGuard } from '../../engine/index.ts'
import type { Judged } from '../../engine/index.ts'
import { checkWhole } from './guard-record.ts'
import type { GuardRecord } from './guard-record.ts'
import { isObject } from '../../engine/kit.ts'

const most = (what: string) =>
  ({ type: 'integer', minimum: 1, maximum: 1_000_000_000, description: `Most ${what}; unset: any number.` }) as const

/** Finds what is too long. */
export default defineGuard({
  name: 'length',
  summary: 'Finds requests and answers that are longer than a number of characters, tokens or messages.',
  config: {
    type: 'object',
    additionalProperties: false,
    examples: [{ max_characters: 100_000 }],
    properties: {
      max_characters: most('characters of all texts together'),
      max_tokens: most('tokens of all texts together, as the gateway estimates them'),
      max_messages: most('messages of a request'),
    },
  } as const,
  uses: ['tokens'],
  whole: true,
  check(config, _all, report) {
    const { max_characters: characters, max_tokens: tokens, max_messages: messages } = config
    checkWhole(config, report)
    if ((characters ?? tokens ?? messages) === undefined)
      report([], 'guard', 'nothing is too long: it needs max_characters, max_tokens or max_messages')
    const { side = [] } = config as Partial<Pick<GuardRecord, 'side'>>
    if (messages !== undefined && !side.includes('input') && !side.includes('tool_results'))
      report(['max_messages'], 'guard', 'answers have no messages: it needs "side: [input]"')
  },
  build(
    { max_characters: characters = Infinity, max_tokens: tokens = Infinity, max_messages: messages = Infinity },
    _host,
    services,
  ) {
    return (judged) => {
      const length = judged.texts.reduce((sum, { text }) => sum + text.length, 0)
      if (length > characters) return { hit: true, category: 'characters' }
      if (judged.side === 'input' && messagesIn(judged) > messages) return { hit: true, category: 'messages' }
      // Characters are never fewer than a third of the tokens.
      if (tokens === Infinity || length * 3 <= tokens) return { hit: false }
      const bytes = judged.texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
      return services.tokens.ofBytes(bytes) > tokens ? { hit: true, category: 'tokens' } : { hit: false }
    }
  },
})

function messagesIn({ request: { body } }: Judged): number {
  const lists = isObject(body) ? [body['messages'], body['contents'], body['input']] : []
  return lists.flatMap((one) => (Array.isArray(one) ? [one.length] : []))[0] ?? 1
}
