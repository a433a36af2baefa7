import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startLogs } from '../admin/logs/rig.ts'
import type { LogsGateway } from '../admin/logs/rig.ts'
import { openSession } from '../service/responses-session.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { until } from '../support/until.ts'
import { answerOf, askOf, protocols, wholeOf } from './rig.ts'
import type { Protocol } from './rig.ts'
import { Service } from './service.ts'

const words = { kind: 'words', words: ['marzipan'], default: false, message: 'No.' }
const mails = { kind: 'pii', entities: ['email'], action: 'mask', default: false }
/** Nobody listens there. */
const away = { kind: 'webhook', url: 'http://127.0.0.1:1/', default: false }
/** What a client asks, which the guards below find. */
const found = 'I am ann@example.com, and eat marzipan.'
const match = /ann@|marzipan/

const guards = [
  { ...mails, name: 'mails' },
  { ...mails, name: 'tokens', mask: 'token' },
  { ...words, name: 'list' },
  { ...words, name: 'quiet', shadow: true },
  { ...words, name: 'seen', action: 'flag' },
  { ...words, name: 'hidden', action: 'mask', side: ['output'] },
  { ...words, name: 'again', action: 'retry', side: ['output'] },
  { ...words, name: 'other', action: 'fallback', side: ['output'] },
  { ...words, name: 'said', side: ['output', 'tool_calls'] },
  { ...away, name: 'broken' },
  { ...away, name: 'broken-open', on_error: 'open', side: ['input'] },
  { ...away, name: 'broken-after', side: ['output'] },
]

describe('guards: captured bodies', () => {
  let upstream: ScriptedUpstream
  let gateway: LogsGateway
  /** Never answers. */
  const silent = new Service()
  before(async () => {
    await silent.open()
    upstream = await scriptedUpstream()
    const at = { base_url: upstream.url, api_key: 'k' }
    gateway = await startLogs({
      providers: [
        { name: 'chat', type: 'compatible', ...at },
        { name: 'messages', type: 'messages', ...at },
        { name: 'responses', type: 'native', ...at },
        { name: 'gemini', type: 'gemini', ...at },
      ],
      models: [
        ...protocols.map((name) => ({ name, provider: name, supports_tools: true })),
        { name: 'masks', provider: 'chat', upstream_model: 'masks', guards: ['mails'], fallbacks: ['chat'] },
        { name: 'masks-alone', provider: 'chat', guards: ['mails'] },
        { name: 'denies', provider: 'chat', guards: ['list'] },
        { name: 'first', provider: 'chat', fallbacks: ['chat'] },
      ],
      server_config: {
        logging: { capture: 'all' },
        resilience: { retries: { wait: '1ms' } },
      },
      records: { guards: [...guards, { ...away, name: 'silent', url: silent.url, on_error: 'open', timeout: '60s' }] },
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
    await silent.close()
  })

  const shown = async (id: string): Promise<JsonObject> => {
    let answer: JsonObject = {}
    await until(async () => {
      await gateway.engine.flush()
      const { status, body } = await gateway.asAdmin(`GET /api/logs/${id}`)
      answer = body
      return status === 200
    })
    return answer
  }
  const ask = async (
    { path, body }: { readonly path: string; readonly body: JsonObject },
    names: string,
    headers: Record<string, string> = {},
  ) => {
    const response = await gateway.post(path, body, { ...(names && { 'x-gateway-guards': names }), ...headers })
    const text = await response.text()
    const row = await shown(response.headers.get('x-request-id') ?? '')
    const capture = row['capture'] as { readonly request: string; readonly response: string }
    return { status: response.status, text, row: JSON.stringify(row), ...capture }
  }
  const size = (body: object) => Buffer.byteLength(JSON.stringify(body))
  const withheld = (body: object) => `[${size(body)} bytes that the guards did not let pass]`
  const fails: Script = { status: 500, body: { error: { message: 'Broken.' } } }

  for (const client of protocols)
    for (const [names, status] of [
      ['list', 400],
      ['mails, list', 400],
      ['broken', 503],
      ['mails, broken', 503],
    ] as const)
      it(`have no request that ${names} did not let pass: ${client}`, async () => {
        const asked = askOf(client, { model: client, stream: false, text: found })
        const got = await ask(asked, names)
        expect(got.status, got.text).to.equal(status)
        expect(got.request).to.equal(withheld(asked.body))
        expect(got.response).to.equal(got.text)
        expect(got.row).not.to.match(match)
      })

  it('have no request that failed before guards that would have hidden something', async () => {
    const asked = askOf('chat', { model: 'chat', stream: false, text: found })
    const wrong = { ...asked, body: { ...asked.body, temperature: 'high' } }
    for (const [names, request] of [
      ['list', withheld(wrong.body)],
      ['mails', withheld(wrong.body)],
      ['list, unknown', withheld(wrong.body)],
      ['', JSON.stringify(wrong.body)],
      ['quiet, seen, said', JSON.stringify(wrong.body)],
    ] as const) {
      const got = await ask(wrong, names)
      expect([got.status, got.request], names).to.deep.equal([400, request])
      if (request.startsWith('[')) expect(got.row).not.to.match(match)
    }
    // Guards of the model would have judged it, too.
    for (const model of ['masks-alone', 'denies']) {
      const body = { ...wrong.body, model }
      const got = await ask({ ...wrong, body }, '')
      expect([got.status, got.request], model).to.deep.equal([400, withheld(body)])
    }
    const unknown = await ask(asked, 'unknown')
    expect([unknown.status, unknown.request]).to.deep.equal([400, withheld(asked.body)])
  })

  it('have the request as guards have let it pass, also when it fails later', async () => {
    const asked = askOf('chat', { model: 'missing', stream: false, text: found })
    const masked = JSON.stringify(asked.body).replace('ann@example.com', '[EMAIL]')
    expect((await ask(asked, 'mails')).request).to.equal(masked)
    for (const names of ['quiet', 'seen', 'broken-open'])
      expect((await ask(asked, names)).request, names).to.equal(JSON.stringify(asked.body))
  })

  it('have what the guards of a model mask in its own tries alone', async () => {
    const asked = (model: string) => askOf('chat', { model, stream: false, text: found })
    const answer = { body: wholeOf.chat({ text: ['Hi'] }) }
    upstream.answer(answer)
    const served = await ask(asked('masks'), '')
    expect(served.request).to.equal(JSON.stringify(asked('masks').body).replace('ann@example.com', '[EMAIL]'))
    // The other model may see the text, and does.
    for (const [model, next, status] of [
      ['masks', answer, 200],
      ['masks-alone', fails, 502],
    ] as const) {
      upstream.answer(fails, next, next)
      const got = await ask(asked(model), '')
      expect([got.status, got.request], got.text).to.deep.equal([status, withheld(asked(model).body)])
      expect(got.row).not.to.match(match)
    }
    expect(String(upstream.requests.at(-1)?.body)).not.to.match(/ann@/)
    const denied = await ask(asked('denies'), '')
    expect([denied.status, denied.request]).to.deep.equal([400, withheld(asked('denies').body)])
  })

  it('have no request whose client left while it was judged', async () => {
    const { path, body } = askOf('chat', { model: 'chat', stream: false, text: found })
    const leaving = new AbortController()
    const left = fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'x-gateway-guards': 'silent',
      },
      body: JSON.stringify(body),
      signal: leaving.signal,
    }).catch((error: unknown) => error)
    await until(() => silent.asked.length === 1)
    leaving.abort()
    await left
    const { id } = await gateway.row(({ result }) => result === 'client_closed')
    const row = await shown(id)
    expect(row['capture']).to.deep.include({ request: withheld(body) })
    expect(JSON.stringify(row)).not.to.match(match)
  })

  it('have no request of a socket that was denied', async () => {
    const session = await openSession(gateway, { 'x-gateway-guards': 'list' })
    const [error] = await session.turn({ model: 'responses', input: found })
    expect(error?.error?.code).to.equal('content_filter')
    const socket = (await gateway.row(({ stream, guarded }) => stream === 1 && guarded === 'denied')).id
    expect(JSON.stringify(await shown(socket)))
      .to.contain('bytes that the guards did not let pass')
      .and.not.match(match)
    session.socket.close(1000)
    await session.closed
  })

  const pieces = ['At every tea. '.repeat(20), 'We eat mar', 'zipan.']
  const says = (model: Protocol, stream: boolean, text: readonly string[]) => answerOf(model, { text }, stream)

  for (const client of protocols)
    for (const stream of [false, true])
      it(`have an answer as its client was shown it: ${client}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const asked = askOf(client, { model: client, stream, text: 'Hi' })
        const bad = says(client, stream, pieces)
        const good = says(client, stream, ['We eat cake.'])
        for (const [names, next, last] of [
          ['said', bad, stream ? /At every/ : /No\./],
          ['hidden', bad, /\[HIDDEN\]/],
          ['broken-after', bad, /guard_unavailable|broken-after/],
          ['again', good, /cake/],
          ['again', bad, /No\./],
          ['other', bad, /No\./],
        ] as const) {
          upstream.answer(bad, next)
          const got = await ask(asked, names)
          expect(got.text, names).to.match(last)
          expect(got.response, names).to.equal(got.text)
          expect(got.row, names).not.to.match(match)
        }
        upstream.answer(says('chat', stream, pieces), says('chat', stream, ['We eat cake.']))
        const next = await ask(askOf(client, { model: 'first', stream, text: 'Hi' }), 'other')
        expect(next.text).to.match(/cake/)
        expect(next.response).to.equal(next.text)
        expect(next.row).not.to.match(match)
      })

  it('have errors of providers without what tokens stand for', async () => {
    const asked = askOf('chat', { model: 'chat', stream: false, text: found })
    upstream.answer({ status: 400, body: { error: { message: 'Cannot read "I am <EMAIL_1>, and".' } } })
    const got = await ask(asked, 'tokens')
    expect(got.status).to.equal(400)
    expect(got.response).to.contain('<EMAIL_1>')
    expect(got.row).not.to.match(/ann@/)
  })
})
