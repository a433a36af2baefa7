import { GatewayError, definePlugin, defineSlot, defineStage } from 'sluice'
import type { Dispatched, Json } from 'sluice'
import { asking, duration, durationSchema, replyJson } from 'sluice/kit'

/** What the model that judges has said, or the code of the error that kept it from it. */
interface Verdict {
  readonly said: string
  readonly error: string
}

declare module 'sluice' {
  interface Slots {
    'acme.verdict': Verdict
  }
}

const verdict = defineSlot({
  name: 'acme.verdict',
  summary: 'What a model thinks of the request.',
  fields: { said: 'text', error: 'text' },
})

const judge = defineStage({
  name: 'acme-judge',
  summary: 'Ask a model whether the request may be served.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['pipeline', 'model'],
    properties: {
      pipeline: {
        type: 'string',
        'x-names': 'pipeline',
        'x-inputs': ['ingress', 'principal'],
        'x-gives': ['reply'],
        description: 'The pipeline that asks the model.',
      },
      model: { type: 'string', description: 'The model that judges.' },
      protocol: { enum: ['chat', 'messages'], default: 'chat', description: 'How it is asked.' },
      stream: { type: 'boolean', default: false, description: 'Whether it answers in pieces.' },
      deadline: { ...durationSchema, default: '10s', description: 'How long it may take.' },
      limit: { type: 'integer', minimum: 1, default: 65_536, description: 'Most bytes of an answer in pieces.' },
      wait: { type: 'boolean', default: true, description: 'Whether the request waits for it.' },
    },
  } as const,
  needs: ['principal', 'request'],
  provides: ['acme.verdict'],
  build: ({ pipeline, model, protocol, stream, deadline, limit, wait }, host) => {
    const within = { deadline: duration(deadline), limit }
    return async ({ principal, request }, scope) => {
      const question = { role: 'user', content: `May this be served? ${JSON.stringify(request.body['messages'])}` }
      const ingress = asking({ protocol, body: { model, max_tokens: 8, stream, messages: [question] } })
      const asked = host.dispatch(pipeline, { ingress, principal }, scope, within)
      if (!wait) return { 'acme.verdict': { said: '', error: '' } }
      const judged = await asked
      scope.note('judge', { id: judged.id, status: judged.reply?.status ?? 0 })
      const error = judged.outcome.error?.code ?? ''
      const said = error === '' ? wordsOf(judged) : ''
      if (said === 'no') throw new GatewayError('refused')
      return { 'acme.verdict': { said, error } }
    }
  },
})

/** The text of an answer of chat completions or messages, whole or in pieces. */
function wordsOf({ reply }: Dispatched): string {
  if (reply?.body.kind !== 'bytes' || !reply.body.type.startsWith('text/event-stream'))
    return textOf((reply && replyJson(reply)) ?? {})
  const lines = Buffer.from(reply.body.bytes).toString().split('\n')
  const data = lines.filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)) as Json)
  return data.map(textOf).join('')
}

interface Answer {
  readonly choices?: readonly { readonly message?: Said; readonly delta?: Said }[]
  readonly content?: readonly { readonly text?: string }[]
}

interface Said {
  readonly content?: string
}

function textOf(body: Json): string {
  const { choices: [choice] = [], content: [part] = [] } = body as Answer
  return (choice?.message ?? choice?.delta)?.content ?? part?.text ?? ''
}

const turn = defineStage({
  name: 'acme-turn',
  summary: 'Let only so many judge at once.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['most'],
    properties: { most: { type: 'integer', minimum: 1, description: 'How many.' } },
  } as const,
  needs: [],
  provides: [],
  settles: ['outcome'],
  build: ({ most }) => {
    let judging = 0
    return (_slots, _scope, settle) => {
      if (judging >= most) throw new GatewayError('overloaded')
      judging++
      settle(() => void judging--)
      return {}
    }
  },
})

const tell = defineStage({
  name: 'acme-tell',
  summary: 'Note the verdict in the row of the request.',
  config: { type: 'object', additionalProperties: false, properties: {} } as const,
  needs: ['acme.verdict'],
  provides: [],
  build: () => (slots, scope) => {
    const { said, error } = slots['acme.verdict']
    scope.note('verdict', error === '' ? said : error)
    return {}
  },
})

export default definePlugin({
  name: 'acme-judge',
  summary: 'Has a model judge requests.',
  stages: [judge, turn, tell],
  slots: [verdict],
})
