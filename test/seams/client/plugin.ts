import { defineClientCodec, definePlugin, defineStage, noConfig } from 'sluice'
import type { Failure, Frame, GenerateEvent, GenerateRequest, Item, JsonObject, Loss, Usage } from 'sluice'
import { Losses, unsaid } from 'sluice/kit'

const protocol = 'acme-ask'

interface Line {
  readonly who: 'user' | 'model'
  readonly say: string
}

/** What its clients send. `mood` is a word that no other protocol has. */
interface Body {
  readonly to: string
  readonly lines: readonly Line[]
  readonly limit?: number
  readonly live?: boolean
  readonly mood?: string
}

const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['to', 'lines'],
  properties: {
    to: { type: 'string' },
    lines: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['who', 'say'],
        properties: { who: { enum: ['user', 'model'] }, say: { type: 'string' } },
      },
    },
    limit: { type: 'integer', minimum: 1 },
    live: { type: 'boolean' },
    mood: { type: 'string' },
  },
}

function parse(body: JsonObject): GenerateRequest {
  const { lines, limit, live = false, mood } = body as unknown as Body
  return {
    items: lines.map(({ who, say }) => ({
      type: 'message',
      role: who === 'model' ? 'assistant' : 'user',
      content: [{ type: 'text', text: say }],
    })),
    tools: [],
    stream: live,
    streamUsage: true,
    ...(limit === undefined ? {} : { maxOutputTokens: limit }),
    ...(mood === undefined ? {} : { rest: { protocol, fields: { mood } } }),
  }
}

/** The texts of messages; anything else is lost. */
function textOf(item: Item, losses: Losses): string {
  if (item.type === 'message') return item.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  losses.add(item.type, 'this protocol has words alone')
  return ''
}

const spent = (usage: Usage | undefined) => (usage ? { spent: { in: usage.input, out: usage.output } } : {})

/** Says what the model says as it says it, and last what it took. */
class AskPrinter {
  readonly #losses = new Losses(protocol)

  get losses(): readonly Loss[] {
    return this.#losses.list()
  }

  *print(event: GenerateEvent): Iterable<Frame> {
    if (event.type === 'item') textOf(event.item, this.#losses)
    if (event.type === 'delta') yield frame('say', { text: event.text })
    if (event.type === 'finish') yield frame('over', { why: event.stop, ...spent(event.usage) })
    if (event.type === 'failure') yield frame('wrong', wrong(event.failure))
  }
}

const frame = (event: string, value: JsonObject): Frame => ({ event, data: JSON.stringify(value) })
const wrong = ({ code, message, param }: Failure) => ({ wrong: code ?? 'unknown', why: message, at: param })

const ask = defineClientCodec({
  protocol,
  operation: 'generate',
  summary: 'Lines in, words out.',
  schema,
  check(body) {
    const { lines } = body as unknown as Body
    return lines.at(-1)?.who === 'model' ? { param: 'lines', reason: 'the user has the last word' } : undefined
  },
  head: ({ to, live }) => ({ model: to as string, stream: live === true, background: false }),
  error: {
    status: ({ status }) => (status === 400 ? 422 : undefined),
    print: (failure, id) => ({ ...wrong(failure), id }),
  },
  request: {
    parse,
    print(request, { model }) {
      const { maxOutputTokens: limit, stream, rest, ...others } = request
      const losses = new Losses(protocol)
      for (const { field, because } of unsaid({ ...others, stream }, [])) losses.add(field, because)
      const lines = request.items.map((item) => ({
        who: item.type === 'message' && item.role === 'assistant' ? 'model' : 'user',
        say: textOf(item, losses),
      }))
      const body = { to: model, lines, ...(limit === undefined ? {} : { limit }), ...(stream ? { live: true } : {}) }
      return { body: { ...body, ...losses.own(rest) }, losses: losses.list() }
    },
  },
  reply: {
    print({ items, stop, usage }, { model }) {
      const losses = new Losses(protocol)
      const said = items.map((item) => textOf(item, losses)).join('')
      return { body: { by: model, said, why: stop, ...spent(usage) }, losses: losses.list() }
    },
  },
  events: { printer: () => new AskPrinter() },
})

/** Shows a request as its client would have written it, had it asked for fewer words. */
const shorten = defineStage({
  name: 'acme-shorten',
  summary: 'Show the request with a limit.',
  config: noConfig,
  needs: ['request'],
  provides: ['reply'],
  build:
    () =>
    ({ request }) => {
      const neutral = { ...request.neutral('generate'), maxOutputTokens: 3 }
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value: request.with({ neutral }).body } } }
    },
})

export default definePlugin({
  name: 'acme-ask',
  summary: 'Answers clients of its own protocol.',
  codecs: [ask],
  stages: [shorten],
})
