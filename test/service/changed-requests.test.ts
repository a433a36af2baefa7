import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { ConfigurationError } from '../../engine/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer, messagesAnswer, responsesAnswer } from './streams.ts'

const providers = (url: string) => [
  { name: 'chat', type: 'compatible', base_url: url },
  { name: 'messages', type: 'messages', base_url: url, api_key: 'key-of-messages' },
  { name: 'responses', type: 'native', base_url: url, api_key: 'key-of-native' },
]
const models = ['chat', 'messages', 'responses'].map((name) => ({
  name,
  provider: name,
  upstream_model: `${name}-2026`,
}))
const answers = { chat: chatAnswer, messages: messagesAnswer, responses: responsesAnswer }

type Protocol = keyof typeof answers

const pipeline = (protocol: Protocol, stages: string) => `name: changed-${protocol}
summary: Changes requests.
protocol: ${protocol}
routes: [POST /${protocol}]
without: [limit, reserve, breaker, charge]
stages: [{ auth: { with: key } }, parse, ${stages}, validate, resolve, requested, allow, { attempt: { do: [translate, call, translate-back] } }]
finally: [price, { log: { type: ${protocol} } }]
`

describe('stages that change requests', () => {
  let upstream: ScriptedUpstream
  let folder: string
  let gateway: RunningGateway | undefined
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    folder = await mkdtemp(join(tmpdir(), 'sluice-changed-'))
  })
  afterEach(async () => {
    await gateway?.close()
    gateway = undefined
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  })

  const serve = async (stages: string, text = pipeline) => {
    for (const protocol of Object.keys(answers) as Protocol[])
      await writeFile(join(folder, `${protocol}.yaml`), text(protocol, stages))
    gateway = await startGateway({ providers: providers(upstream.url), models, pipelines: folder })
    return gateway
  }
  /** What the upstream of the client's own protocol gets. */
  const sent = async (protocol: Protocol, body: object): Promise<Record<string, unknown>> => {
    upstream.answer({ body: answers[protocol] })
    const answer = await gateway?.post(`/${protocol}`, body)
    expect(answer?.status, await answer?.text()).to.equal(200)
    return JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '') as Record<string, unknown>
  }
  const message = { role: 'user', content: 'Hello' }

  it('put an instruction before those of the client, or after them, in its own protocol', async () => {
    await serve('{ prompt: { text: First. } }, { prompt: { text: Last., at: after } }')
    expect(await sent('chat', { model: 'chat', messages: [message] })).to.deep.equal({
      model: 'chat-2026',
      messages: [{ role: 'system', content: 'First.' }, { role: 'system', content: 'Last.' }, message],
    })
    const own = { role: 'developer', content: 'Be brief.' }
    expect((await sent('chat', { model: 'chat', messages: [own, message] }))['messages']).to.deep.equal([
      { role: 'system', content: 'First.' },
      own,
      { role: 'system', content: 'Last.' },
      message,
    ])
    const ask = { model: 'messages', max_tokens: 5, messages: [message] }
    expect(await sent('messages', ask)).to.deep.equal({ ...ask, model: 'messages-2026', system: 'First.\n\nLast.' })
    const blocks = [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }]
    expect((await sent('messages', { ...ask, system: blocks }))['system']).to.deep.equal([
      { type: 'text', text: 'First.' },
      ...blocks,
      { type: 'text', text: 'Last.' },
    ])
    const input = { model: 'responses', input: 'Hello', store: false }
    expect(await sent('responses', { ...input, instructions: 'Be brief.' })).to.deep.include({
      instructions: 'First.\n\nBe brief.\n\nLast.',
      input: 'Hello',
    })
  })

  it('set, default and drop fields, inside of others too, and change nothing else', async () => {
    await serve(
      '{ set: { override: { temperature: 0, "metadata.team": web }, default: { top_p: 0.5, "metadata.app": a }, drop: [user, "metadata.mail"] } }',
    )
    const body = { model: 'chat', messages: [message], odd: { kept: [1] } }
    expect(
      await sent('chat', { ...body, user: 'alice', top_p: 0.9, metadata: { mail: 'x', app: 'b' }, temperature: 2 }),
    ).to.deep.equal({
      ...body,
      model: 'chat-2026',
      temperature: 0,
      top_p: 0.9,
      metadata: { app: 'b', team: 'web' },
    })
    expect(await sent('chat', body)).to.deep.equal({
      ...body,
      model: 'chat-2026',
      temperature: 0,
      top_p: 0.5,
      metadata: { team: 'web', app: 'a' },
    })
  })

  it('leave the bytes of the client where there is nothing to change', async () => {
    await serve('{ set: { default: { temperature: 0 }, drop: [user] } }')
    upstream.answer({ body: chatAnswer })
    const text = '{ "temperature": 1.0,  "model":"chat", "messages":[{"role":"user","content":"Hi"}] }'
    const answer = await fetch(`${gateway?.url}/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway?.key}` },
      body: text,
    })
    expect(answer.status, await answer.text()).to.equal(200)
    expect(upstream.requests.at(-1)?.body.toString()).to.equal(text.replace('"chat"', '"chat-2026"'))
  })

  it('let what is malformed be refused where it always is', async () => {
    await serve('{ prompt: { text: First. } }')
    for (const protocol of ['chat', 'messages', 'responses'] as const) {
      const answer = await gateway?.post(`/${protocol}`, { model: protocol, messages: 5, system: 5, instructions: 5 })
      expect(answer?.status, await answer?.text()).to.equal(400)
    }
    expect(upstream.requests).to.have.length(0)
  })

  it('are refused with their place when they cannot work', async () => {
    const refused = async (stages: string) => {
      const error = await serve(stages).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).to.be.instanceOf(ConfigurationError)
      return (error as ConfigurationError).diagnostics.map(({ message }) => message)[0]
    }
    expect(await refused('set')).to.match(/"set" cannot be built: it changes nothing/)
    expect(await refused('{ set: { override: { stream: true } } }')).to.match(/the client alone can say/)
    expect(await refused('{ set: { drop: [a..b] } }')).to.match(/"a\.\.b" names no field/)
    expect(await refused('{ pin: { model: nobody } }')).to.match(/^no model named "nobody"/)
    expect(await refused('pin')).to.equal(
      '"pin" names a "model"; for the requested model and its fallbacks write "requested"',
    )
  })
})
