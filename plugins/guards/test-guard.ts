import { GatewayError, defineAction } from '../../engine/index.ts'
import type { Judged, JsonObject, Scope, Services } from '../../engine/index.ts'
import { asText, isObject, shape } from '../../engine/kit.ts'
import { masked } from './masking.ts'
import type { Rule } from './rule.ts'
import { TokenTable } from './token-table.ts'

const text = { type: 'string', maxLength: 100_000 } as const

/** Lets a guard judge a text, whether or not it is declared. Nothing is recorded. */
export default defineAction({
  name: 'test-guard',
  summary: 'Try a guard on a text.',
  route: 'POST /api/guards/test',
  access: { role: 'admin' },
  body: {
    type: 'object',
    additionalProperties: false,
    examples: [{ guard: 'my-guard', text: 'Mail me: ann@example.com' }],
    required: ['guard'],
    properties: {
      guard: {
        anyOf: [
          { type: 'string', minLength: 1 },
          { type: 'object', additionalProperties: true },
        ],
        description: 'Name of a guard, or the fields of one that is not declared.',
      },
      text: { ...text, description: 'The text.' },
      texts: { type: 'array', minItems: 1, maxItems: 100, items: text, description: 'Several texts in place of one.' },
      side: { enum: ['input', 'output'], default: 'input', description: 'Whether they are of a request or an answer.' },
    },
  },
  answer: shape.object({
    hit: shape.flag('Whether something was found.'),
    action: shape.word(['pass', 'deny', 'mask', 'flag', 'retry', 'fallback', 'error'], 'What would follow.'),
    texts: shape.list({ type: 'string' }, 'The texts, with what was found masked if the guard masks.'),
    hits: shape.list(
      shape.object({
        text: shape.integer('Number of the text, from 0.'),
        start: shape.integer('Index of its first UTF-16 unit.'),
        end: shape.integer('Index after its last UTF-16 unit.'),
        entity: shape.orNull(shape.text('What it is.')),
      }),
      'The places.',
    ),
    category: shape.orNull(shape.text('The category that the guard named.')),
    score: shape.orNull(shape.number('The score from 0 to 1 that the guard gave.')),
    milliseconds: shape.number('How long it took.'),
  }),
  errors: ['invalid_reference', 'invalid_field', 'invalid_configuration'],
  writes: { not: 'a text is judged, and nothing is kept' },
  uses: ['guards'],
  async run({ body }, { guards }, scope, host) {
    const {
      guard,
      text: one,
      texts = one === undefined ? [] : [one],
      side = 'input',
    } = body as {
      readonly guard: string | JsonObject
      readonly text?: string
      readonly texts?: readonly string[]
      readonly side?: 'input' | 'output'
    }
    if (texts.length === 0) throw new GatewayError('invalid_field', { param: 'text', reason: 'is missing' })
    const rule = ruleIn(guard, guards)
    const judgement = await rule.judge(judgedOf(texts, side, scope), host, scope, undefined, true)
    const milliseconds = Math.round(judgement.milliseconds * 1_000) / 1_000
    if ('failed' in judgement)
      return { hit: false, action: 'error', texts, hits: [], category: judgement.failed, score: null, milliseconds }
    const { found } = judgement
    const masking = { hashKey: guards.hashKey, keyId: '', tokens: new TokenTable(), isOwn: true }
    const changed =
      rule.action === 'mask' && found.action !== 'flag'
        ? masked(
            rule,
            found,
            texts.map((given) => ({ text: given })),
            masking,
          )
        : new Map()
    return {
      hit: found.hit,
      action: found.hit ? (found.action ?? rule.action) : 'pass',
      texts: texts.map((given, index) => asText(changed.get(index) ?? given)),
      hits: (found.spans ?? []).map(({ entity = null, ...span }) => ({ ...span, entity })),
      category: found.category ?? null,
      score: found.score ?? null,
      milliseconds,
    }
  },
})

function ruleIn(guard: string | JsonObject, guards: Services['guards']): Rule {
  if (isObject(guard)) {
    const given = asText(guard['name'])
    // One that is changed before it is stored has the name of the stored one.
    return guards.trial({ ...guard, name: given === '' || guards.find(given) ? 'trial' : given })
  }
  const rule = guards.find(guard)
  if (rule === undefined)
    throw new GatewayError('invalid_reference', { param: 'guard', reason: 'is no guard that is on' })
  return rule
}

function judgedOf(texts: readonly string[], side: 'input' | 'output', { id }: Scope): Judged {
  const role = side === 'input' ? 'user' : 'assistant'
  return {
    texts: texts.map((one, index) => ({ at: `texts[${index}]`, role, text: one, from: 0 })),
    tool_calls: [],
    tools: [],
    side,
    final: true,
    window: null,
    request: {
      id,
      protocol: 'chat',
      operation: 'generate',
      model: '',
      stream: false,
      tags: {},
      end_user: null,
      headers: {},
      body: { messages: texts.map((content) => ({ role, content })) },
    },
  }
}
