import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import { BytesBody, Fold, collect } from '../../../engine/kit.ts'
import type { GenerateEvent, GenerateReply, GenerateRequest, Item, Json, Message } from '../../../engine/index.ts'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import echo from '../../../plugins/providers/echo.ts'
import { openProvider, testHost } from '../../support/host.ts'

const user = (text: string): Message => ({ type: 'message', role: 'user', content: [{ type: 'text', text }] })
const request = (more: Partial<GenerateRequest> = {}): GenerateRequest => ({
  items: [user('First.'), user('Hello  there,\nkind world')],
  tools: [],
  stream: true,
  ...more,
})

async function eventsOf(
  asked: GenerateRequest,
  config: object = {},
  scope = new ExchangeScope(),
): Promise<GenerateEvent[]> {
  const answer = openProvider(echo, config, testHost()).answer?.generate?.(asked, 'echo', scope)
  if (!answer || !(Symbol.asyncIterator in answer)) throw new Error('the echo streams')
  return Array.fromAsync(answer)
}

async function replyOf(asked: GenerateRequest, config?: object, scope?: ExchangeScope): Promise<GenerateReply> {
  const folded = new Fold()
  for (const event of await eventsOf(asked, config, scope)) folded.add(event)
  return folded.reply()
}

const deltas = (events: readonly GenerateEvent[]) =>
  events.flatMap((event) => (event.type === 'delta' ? [event.text] : []))

describe('echo', () => {
  it('repeats the last words of the user', async () => {
    const scope = new ExchangeScope()
    expect(await replyOf(request(), {}, scope)).to.deep.equal({
      id: `echo_${scope.id}`,
      model: 'echo',
      items: [{ type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello  there,\nkind world' }] }],
      stop: 'end',
      usage: { input: 8, cacheRead: 0, cacheWrite: 0, output: 6, reasoning: 0 },
    })
  })

  it('streams as many words at a time as it is told to', async () => {
    expect(deltas(await eventsOf(request()))).to.deep.equal(['Hello  ', 'there,\n', 'kind ', 'world'])
    expect(deltas(await eventsOf(request(), { chunk_size: 3 }))).to.deep.equal(['Hello  there,\nkind ', 'world'])
  })

  it('says nothing when nothing was said', async () => {
    const reply = await replyOf(request({ items: [] }))
    expect(reply.items).to.deep.equal([{ type: 'message', role: 'assistant', content: [{ type: 'text', text: '' }] }])
    expect(reply.usage).to.include({ input: 0, output: 0 })
  })

  it('stops at the output limit', async () => {
    const reply = await replyOf(request({ maxOutputTokens: 2 }))
    expect(reply.items).to.deep.equal([
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello  t' }] },
    ])
    expect(reply.stop).to.equal('length')
    expect(reply.usage?.output).to.equal(2)
  })

  it('calls a function it must call, with arguments that its schema accepts', async () => {
    const scope = new ExchangeScope()
    const parameters = {
      type: 'object',
      required: ['city', 'unit', 'days', 'tags', 'deep'],
      properties: {
        city: { type: 'string', minLength: 2 },
        unit: { enum: ['c', 'f'] },
        days: { type: ['integer', 'null'], minimum: 3 },
        tags: { type: 'array', minItems: 1, items: { anyOf: [{ type: 'boolean' }, { type: 'null' }] } },
        deep: { type: 'object', required: ['fixed'], properties: { fixed: { const: 7 } } },
        optional: { type: 'string' },
      },
    }
    const tools = [{ type: 'function', name: 'weather', namespace: 'sky', parameters }] as const
    const reply = await replyOf(request({ tools, toolChoice: { type: 'required' } }), {}, scope)
    expect(reply.stop).to.equal('tool')
    expect(reply.items).to.deep.equal([
      {
        type: 'call',
        kind: 'function',
        callId: `call_${scope.id}`,
        name: 'weather',
        namespace: 'sky',
        input: '{"city":"xx","unit":"c","days":3,"tags":[false],"deep":{"fixed":7}}',
      },
    ])
  })

  it('calls the tool that is named, and a custom one with text', async () => {
    const tools = [
      { type: 'function', name: 'a' },
      { type: 'custom', name: 'b' },
    ] as const
    const named = await replyOf(request({ tools, toolChoice: { type: 'tool', kind: 'custom', name: 'b' } }))
    expect(named.items[0]).to.include({ kind: 'custom', name: 'b', input: 'Hello  there,\nkind world' })
    const allowed = { type: 'allowed', mode: 'required', tools: [{ kind: 'function', name: 'a' }] } as const
    expect((await replyOf(request({ tools, toolChoice: allowed }))).items[0]).to.include({ name: 'a', input: '{}' })
    expect((await replyOf(request({ tools, toolChoice: { type: 'auto' } }))).stop).to.equal('end')
  })

  it('calls the first tool that the user speaks of, until there is a result', async () => {
    const tools = [
      { type: 'function', name: 'get_time' },
      { type: 'function', name: 'get_weather' },
    ] as const
    const user = (text: string): Item => ({ type: 'message', role: 'user', content: [{ type: 'text', text }] })
    const weather = user('What is the Weather like in Oslo?')
    const reply = await replyOf(request({ tools, items: [user('time'), weather] }))
    expect(reply.items[0]).to.include({ type: 'call', name: 'get_weather', input: '{}' })
    const result: Item = { type: 'result', kind: 'function', callId: 'c', content: [{ type: 'text', text: 'sunny' }] }
    for (const other of [{ items: [weather, result] }, { toolChoice: { type: 'none' } as const, items: [weather] }])
      expect((await replyOf(request({ tools, ...other }))).stop).to.equal('end')
    expect((await replyOf(request({ tools, items: [user('Get up!')] }))).stop).to.equal('end')
  })

  it('fails before it begins when it is told to', async () => {
    const error = await eventsOf(request(), { fail: { status: 429 } }).catch((thrown: unknown) => thrown)
    if (!(error instanceof GatewayError)) throw error
    expect([error.code, error.failure.status, error.tags]).to.deep.equal(['rate_limit_exceeded', 429, ['429']])
  })

  it('breaks off after some pieces when it is told to', async () => {
    const events = await eventsOf(request(), { fail: { after: 2 } })
    expect(deltas(events)).to.deep.equal(['Hello  ', 'there,\n'])
    expect(events.at(-1)).to.deep.include({ type: 'failure' })
    expect(events.some(({ type }) => type === 'finish')).to.equal(false)
  })

  it('takes its time, and stops at once when it is aborted', async () => {
    const scope = new ExchangeScope()
    const reason = new Error('enough')
    const failing = eventsOf(request(), { delay: '1h' }, scope).catch((thrown: unknown) => thrown)
    scope.abort(reason)
    expect(await failing).to.equal(reason)
    const started = performance.now()
    expect(deltas(await eventsOf(request(), { delay: '10ms' }))).to.have.length(4)
    expect(performance.now() - started).to.be.above(38)
  })

  describe('embeds', () => {
    const embed = async (body: object): Promise<Json> => {
      const answer = await openProvider(echo, {}, testHost()).send?.({
        operation: 'embed',
        protocol: 'embeddings',
        body: new BytesBody(Buffer.from(JSON.stringify(body))),
        contentType: 'application/json',
        stream: false,
        model: 'echo',
        timeouts: { firstByte: 60_000, idle: 60_000, total: 60_000 },
        scope: new ExchangeScope(),
      })
      if (answer?.status !== 200) throw new Error('the echo embeds')
      return JSON.parse((await collect(answer.body, 100_000)).toString()) as Json
    }
    const vectorsOf = async (body: object) =>
      ((await embed(body)) as { data: { embedding: number[] }[] }).data.map(({ embedding }) => embedding)

    it('the same text alike, other texts otherwise, as unit vectors', async () => {
      const [a, b, again] = await vectorsOf({ model: 'echo', input: ['one', 'two', 'one'], dimensions: 24 })
      expect(a).to.have.length(24)
      expect(a).to.deep.equal(again)
      expect(a).not.to.deep.equal(b)
      expect(Math.hypot(...(a ?? []))).to.be.closeTo(1, 1e-9)
    })

    it('with the shape and the usage that clients expect', async () => {
      const reply = (await embed({ model: 'echo', input: 'eight ch' })) as Record<string, Json>
      expect(reply).to.deep.include({ object: 'list', model: 'echo', usage: { prompt_tokens: 2, total_tokens: 2 } })
      expect(await vectorsOf({ model: 'echo', input: [1, 2, 3] })).to.have.length(1)
    })

    it('in base64, as official clients ask', async () => {
      const [plain] = await vectorsOf({ model: 'echo', input: 'one' })
      const { data } = (await embed({ model: 'echo', input: 'one', encoding_format: 'base64' })) as {
        data: { embedding: string }[]
      }
      const bytes = Buffer.from(data[0]?.embedding ?? '', 'base64')
      const floats = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
      expect([...floats]).to.deep.equal([...Float32Array.from(plain ?? [])])
    })
  })
})
