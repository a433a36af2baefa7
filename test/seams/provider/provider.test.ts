import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import OpenAI from 'openai'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { sandbox } from '../../engine/cli/sandbox.ts'
import { awsMessage } from '../../support/aws-event-stream.ts'
import { anthropic, openai } from '../../support/clients.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../../support/upstream.ts'

const file = join(import.meta.dirname, 'plugin.ts')

type Said = readonly [event: string, value: JsonObject]

const spent = { in: 7, out: 3 }
const words: readonly Said[] = [
  ['say', { text: 'It is ' }],
  ['say', { text: 'sunny.' }],
  ['end', { why: 'done', spent }],
]
const calls: readonly Said[] = [
  ['say', { text: 'Let me look.' }],
  ['use', { id: 'c1', tool: 'weather' }],
  ['with', { text: '{"city":' }],
  ['with', { text: '"Rome"}' }],
  ['use', { id: 'c2', tool: 'weather' }],
  ['with', { text: '{"city":"Oslo"}' }],
  ['end', { why: 'tools', spent }],
]

const whole = (said: readonly Said[]): Script => ({
  body: { answer: said.map(([event, value]) => ({ event, ...value })) },
})

/** The same as an AWS event stream, cut in the middle of its messages. */
function streamed(said: readonly Said[]): Script {
  const bytes = Buffer.concat(
    said.map(([event, value]) => awsMessage({ ':message-type': 'event', ':event-type': event }, value)),
  )
  const middle = Math.floor(bytes.length / 2)
  return {
    chunks: [bytes.subarray(0, 9), bytes.subarray(9, middle), bytes.subarray(middle)],
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  }
}

const parameters = { type: 'object', properties: { city: { type: 'string' } } }
/** Of a call what its client reads. */
const pick = (call: OpenAI.ChatCompletionMessageToolCall) => ({
  id: call.id,
  ...('function' in call ? { name: call.function.name, given: call.function.arguments } : {}),
})

const messages = [{ role: 'user' as const, content: 'How is the weather?' }]

describe('seams/provider', () => {
  let upstream: ScriptedUpstream
  let spare: ScriptedUpstream
  let gateway: RunningGateway
  /** Requests of earlier tests. */
  let earlier = 0
  before(async () => {
    upstream = await scriptedUpstream()
    spare = await scriptedUpstream()
    const at = ({ url }: ScriptedUpstream) => ({ type: 'acme', base_url: url, api_key: 'acme-key' })
    gateway = await startGateway({
      plugins: [file],
      providers: [
        { name: 'acme', ...at(upstream) },
        { name: 'spare', ...at(spare) },
      ],
      models: [
        { name: 'm', provider: 'acme', upstream_model: 'acme/large-2' },
        { name: 'safe', provider: 'acme', upstream_model: 'large', fallbacks: ['other'] },
        { name: 'other', provider: 'spare', upstream_model: 'other' },
        { name: 'any/*', provider: 'acme', upstream_model: '*' },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await spare.close()
    await upstream.close()
  })
  beforeEach(() => {
    earlier = upstream.requests.length
  })

  const asked = () => upstream.requests.slice(earlier)
  const sent = (index = 0) => JSON.parse(asked()[index]?.body.toString() ?? 'null') as Json

  it('is written by an outsider: 120 lines that import the two doors alone', async () => {
    const text = await readFile(file, 'utf8')
    expect(text.trimEnd().split('\n').length).to.be.at.most(120)
    const imports = [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from)
    expect([...new Set(imports)]).to.deep.equal(['sluice', 'sluice/kit'])
  })

  it('answers official clients of every protocol whole, and is asked in its own words at its own address', async () => {
    upstream.answer(whole(words), whole(words), whole(words))
    const chat = await openai(gateway).chat.completions.create({
      model: 'm',
      messages: [{ role: 'system', content: 'Be brief.' }, ...messages],
      max_tokens: 9,
      seed: 4,
    })
    expect(chat.choices[0]).to.deep.include({ finish_reason: 'stop' })
    expect(chat.choices[0]?.message.content).to.equal('It is sunny.')
    expect(chat.usage).to.include({ prompt_tokens: 7, completion_tokens: 3 })
    const response = await openai(gateway).responses.create({ model: 'm', input: 'How is the weather?', store: false })
    expect(response.output_text).to.equal('It is sunny.')
    const message = await anthropic(gateway).messages.create({ model: 'm', messages, max_tokens: 9 })
    expect(message.content).to.deep.include({ type: 'text', text: 'It is sunny.' })
    expect(message.usage).to.include({ input_tokens: 7, output_tokens: 3 })

    const [first] = asked()
    expect(asked().map(({ method, path }) => `${method} ${path}`)).to.deep.equal(
      Array.from({ length: 3 }, () => 'POST /api/talk/acme%2Flarge-2'),
    )
    expect(first?.headers).to.include({ 'x-acme-key': 'acme-key', 'content-type': 'application/json' })
    expect(first?.headers.authorization).to.equal(undefined)
    expect(sent()).to.deep.equal({
      turns: [
        { who: 'system', say: 'Be brief.' },
        { who: 'user', say: 'How is the weather?' },
      ],
      limit: 9,
    })
  })

  it('streams to official clients of every protocol', async () => {
    upstream.answer(streamed(words), streamed(words), streamed(words))
    let said = ''
    const chat = await openai(gateway).chat.completions.create({ model: 'm', messages, stream: true })
    for await (const chunk of chat) said += chunk.choices[0]?.delta.content ?? ''
    expect(said).to.equal('It is sunny.')
    const response = await openai(gateway).responses.stream({ model: 'm', input: 'Hi', store: false }).finalResponse()
    expect(response.output_text).to.equal('It is sunny.')
    expect(response.usage).to.include({ input_tokens: 7, output_tokens: 3 })
    const message = await anthropic(gateway).messages.stream({ model: 'm', messages, max_tokens: 9 }).finalMessage()
    expect(message.content).to.have.length(1)
    expect(message.content[0]).to.include({ type: 'text', text: 'It is sunny.' })
    expect(asked().map(({ path }) => path)).to.deep.equal(
      Array.from({ length: 3 }, () => '/api/talk/acme%2Flarge-2/live'),
    )
  })

  it('calls tools, whole and streamed, and hears of their results', async () => {
    upstream.answer(whole(calls), streamed(calls), whole(words))
    const client = openai(gateway)
    const tools: OpenAI.ChatCompletionTool[] = [
      { type: 'function', function: { name: 'weather', description: 'Tells it.', parameters } },
    ]
    const wanted = { model: 'm', messages, tools, tool_choice: 'required' } as const
    const answer = await client.chat.completions.create(wanted)
    const turn = answer.choices[0]?.message
    expect(answer.choices[0]?.finish_reason).to.equal('tool_calls')
    expect(turn?.content).to.equal('Let me look.')
    const called: OpenAI.ChatCompletionMessageFunctionToolCall[] = [
      { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
      { id: 'c2', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    ]
    expect(turn?.tool_calls).to.deep.equal(called)
    const live = await client.chat.completions.stream(wanted).finalMessage()
    expect(live.tool_calls?.map((call) => pick(call))).to.deep.equal(called.map((call) => pick(call)))
    await client.chat.completions.create({
      model: 'm',
      tools,
      messages: [
        ...messages,
        { role: 'assistant', tool_calls: called },
        { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
        { role: 'tool', tool_call_id: 'c2', content: 'rain' },
      ],
    })
    expect(sent()).to.deep.include({
      tools: [{ name: 'weather', about: 'Tells it.', takes: parameters }],
      use: 'required',
    })
    expect((sent(2) as JsonObject)['turns']).to.deep.equal([
      { who: 'user', say: 'How is the weather?' },
      { who: 'model', use: { id: 'c1', tool: 'weather', with: { city: 'Rome' } } },
      { who: 'model', use: { id: 'c2', tool: 'weather', with: { city: 'Oslo' } } },
      { who: 'tool', id: 'c1', result: 'sunny', failed: false },
      { who: 'tool', id: 'c2', result: 'rain', failed: false },
    ])
  })

  it('names what it cannot say', async () => {
    upstream.answer(whole(words))
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    const content = [{ type: 'text', text: 'What is it?' }, image]
    const answer = await gateway.post('/v1/chat/completions', {
      model: 'm',
      messages: [{ role: 'user', content }],
      seed: 4,
      top_p: 0.5,
    })
    expect(answer.status, await answer.clone().text()).to.equal(200)
    expect((answer.headers.get('x-gateway-losses') ?? '').split(', ')).to.have.members(['seed', 'top_p', 'image'])
    expect((sent() as JsonObject)['turns']).to.deep.equal([{ who: 'user', say: 'What is it?' }])
  })

  it("tells its errors in the client's words, whole and in a stream", async () => {
    upstream.answer(
      { status: 400, body: { message: 'too many turns', kind: 'turns' } },
      { status: 401, body: { message: 'acme-key is wrong' } },
      streamed([words[0] as Said, ['fault', { message: 'acme is tired' }]]),
      streamed(words.slice(0, 1)),
    )
    const client = openai(gateway)
    const refusal = async (ask: Promise<unknown>) => {
      const error: unknown = await ask.then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      return error as InstanceType<typeof OpenAI.APIError>
    }
    const refused = await refusal(client.chat.completions.create({ model: 'm', messages }))
    expect(refused).to.be.instanceOf(OpenAI.BadRequestError)
    expect(refused).to.include({ code: 'turns' })
    expect(refused.message).to.contain('too many turns')
    const key = await refusal(anthropic(gateway).messages.create({ model: 'm', messages, max_tokens: 9 }))
    expect(key.status).to.equal(502)
    expect(JSON.stringify((key as unknown as InstanceType<typeof Anthropic.APIError>).error)).to.not.contain('acme-key')
    for (const reason of ['acme is tired', 'ended before the answer did']) {
      const stream = await client.chat.completions.create({ model: 'm', messages, stream: true })
      const broken = await refusal(Array.fromAsync(stream))
      expect(broken.message).to.contain(reason)
    }
  })

  for (const name of ['.', '..', '\ud800'])
    it(`refuses the model ${JSON.stringify(name)}, which its address cannot hold`, async () => {
      const body = JSON.stringify({ model: `any/${name}`, messages })
      const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
      expect(answer.status).to.equal(400)
      expect(await answer.text()).to.include('its name cannot be part of a URL')
      expect(asked()).to.deep.equal([])
    })

  it('gives way to a fallback when its first event is a fault, or when it is overloaded', async () => {
    for (const script of [streamed([['fault', { message: 'tired' }]]), { status: 529, body: { message: 'full' } }]) {
      upstream.answer(script, script)
      spare.answer(streamed(words))
      const stream = await openai(gateway).chat.completions.create({ model: 'safe', messages, stream: true })
      let said = ''
      for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? ''
      expect(said).to.equal('It is sunny.')
    }
    expect(spare.requests.map(({ path }) => path)).to.deep.equal(['/api/talk/other/live', '/api/talk/other/live'])
  })

  it('passes the conformance suite, and its protocol is no word for clients', async function () {
    this.timeout(300_000)
    const here = await sandbox({
      'plugins/acme.ts': await readFile(file, 'utf8'),
      'config/sluice.yaml':
        'providers: [{ name: acme, type: acme, base_url: "http://127.0.0.1:9", api_key: k }]\nmodels: [{ name: m, provider: acme }]\n',
    })
    try {
      const { status, out } = await here.run('test', '--provider', 'acme')
      expect(out.at(-1), out.join('\n')).to.match(/^(\d+) of \1 checks passed$/)
      expect(status).to.equal(0)
      expect((await here.run('list', 'codecs', 'acme-talk')).out.join('\n'))
        .to.match(/spoken +to upstreams alone/)
        .and.match(/translates +from every other protocol/)
      const pipeline = 'name: p\nsummary: P.\nprotocol: acme-talk\nstages: [parse]\ninputs: [ingress]\n'
      await here.write('pipelines/p.yaml', pipeline)
      const checked = await here.run('check')
      expect(checked.out).to.include('pipelines/p.yaml:3:11: "acme-talk" is not spoken to clients [unknown-protocol]')
      await here.write('pipelines/p.yaml', pipeline.replace('acme-talk', 'chat'))
      const text = await readFile(file, 'utf8')
      await here.write(
        'plugins/acme.ts',
        text.replace('offers: () => [{ protocol: talk.protocol }]', "offers: () => [{ protocol: 'acme-tlak' }]"),
      )
      expect((await here.run('check')).out.join('\n')).to.contain(
        'the provider "acme" cannot be opened: no codec speaks "acme-tlak"; did you mean "acme-talk"? [open]',
      )
      await here.write('plugins/acme.ts', text.replace('error: { parse: fault }', 'error: {} as never'))
      expect((await here.run('check')).out.join('\n')).to.contain(
        'codec "acme-talk" serves neither clients nor upstreams: it needs "head" for clients, or "parse" of "error" for upstreams [component]',
      )
    } finally {
      await here.remove()
    }
  })
})
