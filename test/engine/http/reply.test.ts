import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { encodeFrame } from '../../../engine/kit.ts'
import type { Sink } from '../../../engine/index.ts'
import { startGateway } from '../../support/gateway.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import { exchange, rawClient, request, statuses } from './raw-client.ts'
import { aborted, events, json, startStub } from './stub.ts'
import type { StubGateway } from './stub.ts'

const pipelines = `endpoints:
  - name: things
    summary: Answers requests.
    public: true
    routes: [POST /things, GET /things]
    stages: [stub]
    finally: [stub-outcome]
`

/** Stages that fail, as somebody's own plugin would: in a folder of its own. */
const failing = `
const none = { type: 'object', additionalProperties: false, properties: {} }
const stage = (name, provides, run) => ({ kind: 'stage', name, summary: name, config: none, needs: [], provides, build: () => run })
const reply = { status: 200, headers: {}, body: { kind: 'json', value: { fine: true } } }
export default {
  kind: 'plugin', name: 'failing', summary: 'Fails.',
  stages: [
    stage('fails', ['reply'], () => { throw new Error('the password is hunter2') }),
    stage('rejects', ['reply'], () => Promise.reject(new TypeError('at /secret/path/file.ts'))),
    stage('throws-text', ['reply'], () => { throw 'hunter2' }),
    stage('throws-nothing', ['reply'], () => { throw undefined }),
    stage('gives-nothing', ['reply'], () => ({})),
    stage('gives-no-object', ['reply'], async () => undefined),
    stage('replies', ['reply'], () => ({ reply })),
    stage('fails-late', [], async () => { throw new Error('hunter2, too late') }),
    stage('answers-cyclic', ['reply'], () => { const value = {}; value.value = value; return { reply: { ...reply, body: { kind: 'json', value } } } }),
    stage('answers-nonsense', ['reply'], () => ({ reply: { status: 99, headers: {}, body: { kind: 'json', value: 1 } } })),
    stage('breaks-late', ['reply'], () => ({ reply: { ...reply, body: { kind: 'stream', type: 'text/event-stream', source: { open(sink) {
      setImmediate(() => sink.data(Buffer.from('data: 1\\n\\n')))
      setTimeout(() => sink.fail(new Error('hunter2')), 50)
      return { pause() {}, resume() {}, cancel() {} }
    } } } } })),
  ],
}
`

describe('a reply', () => {
  let gateway: StubGateway

  describe('of a stage that fails (E5)', () => {
    const names = ['fails', 'rejects', 'throws-text', 'throws-nothing', 'gives-nothing', 'gives-no-object']
    const odd = ['answers-cyclic', 'answers-nonsense']
    let folder: string
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-failing-'))
      await writeFile(join(folder, 'index.ts'), failing)
      const of = (name: string, stages: string, last = '[]') =>
        `  - { name: ${name}, summary: s, public: true, routes: [GET /${name}], stages: [${stages}], finally: ${last} }\n`
      const text = [
        'endpoints:\n',
        ...[...names, ...odd, 'breaks-late'].map((name) => of(name, name)),
        of('late', 'replies', '[fails-late, stub-outcome]'),
      ]
      gateway = await startStub(text.join(''), { plugins: [folder] })
    })
    after(async () => {
      await gateway.close()
      await rm(folder, { recursive: true })
    })

    for (const name of [...names, ...odd])
      it(`that ${name}: is 500 with the request's id and no detail`, async () => {
        const text = await exchange(gateway, request(`GET /${name}`, ['connection: close']))
        expect(statuses(text)).to.deep.equal([500])
        expect(text).to.match(/x-request-id: [0-9a-f-]{36}\r\n/)
        expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).to.deep.equal({
          error: {
            message: 'Something failed inside the gateway. The request id helps to find it in the log.',
            type: 'server_error',
            param: null,
            code: 'internal_error',
          },
        })
        const [, id] = /x-request-id: (\S+)/.exec(text) ?? []
        const logged = gateway.lines.map((line) => JSON.parse(line) as { id?: string; level: string; msg: string })
        expect(
          logged.find((line) => line.id === id),
          'the log names the request',
        ).to.include({ level: 'error', msg: 'an exchange failed' })
      })

    it('after the answer: changes nothing for the client, and the other last steps are run', async () => {
      const text = await exchange(gateway, request('GET /late', ['connection: close']))
      expect(statuses(text)).to.deep.equal([200])
      expect(text).to.contain('{"fine":true}')
      expect((await gateway.ended(1))[0]).to.include({ result: 'completed' })
    })

    it('in the middle of a stream: is cut, so that it does not look complete', async () => {
      const text = await exchange(gateway, request('GET /breaks-late'))
      expect(text)
        .to.contain('data: 1')
        .and.not.contain('hunter2')
        .and.not.match(/\r\n0\r\n\r\n$/)
    })
  })

  describe('and its client', () => {
    beforeEach(async () => (gateway = await startStub(pipelines, { client_timeouts: { unread: '300ms' } })))
    afterEach(() => gateway.close())

    it('that has ended its own direction: is still given (B6)', async () => {
      const gate = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<void>()
      gateway.answer(async () => {
        begun.resolve()
        await gate.promise
        return json({ fine: true })
      })
      const client = await rawClient(gateway)
      client.write(request('GET /things'))
      client.socket.end()
      await begun.promise
      // It is still there: the interim responses that ask have not been refused.
      await client.until(/(HTTP\/1\.1 102 Processing\r\n\r\n){3}/)
      gate.resolve()
      const text = await client.closed
      expect(statuses(text).filter((status) => status !== 102)).to.deep.equal([200])
      expect(text).to.contain('{"fine":true}')
      expect((await gateway.ended(1))[0]).to.include({ result: 'completed' })
    })

    it('that has ended its own direction: is given as a stream, too (B6)', async () => {
      gateway.answer(() => events(['1', '2']))
      const client = await rawClient(gateway)
      client.socket.end(request('GET /things'))
      expect(await client.closed).to.match(/data: 1\n\n[^]*data: 2\n\n/)
    })

    for (const how of ['destroy', 'resetAndDestroy'] as const)
      for (const method of ['GET /things', 'POST /things'])
        it(`that left before the first byte (${how}, ${method}): ends (B1)`, async () => {
          const begun = Promise.withResolvers<void>()
          const ended = Promise.withResolvers<void>()
          gateway.answer(async ({ scope, ingress }) => {
            if (ingress.method === 'POST') await ingress.body(100)
            begun.resolve()
            const reason = await aborted(scope)
            ended.resolve()
            throw reason
          })
          const client = await rawClient(gateway)
          client.write(request(method, [], method.startsWith('POST') ? '{}' : ''))
          await begun.promise
          client.socket[how]()
          await ended.promise
          expect((await gateway.ended(1))[0]).to.include({ status: 499, result: 'client_closed' })
        })

    it('that left in the middle of a stream: ends (B1)', async () => {
      const ended = Promise.withResolvers<void>()
      async function* silent(over: Promise<unknown>) {
        yield '1'
        await over
        ended.resolve()
      }
      gateway.answer(({ scope }) => events(silent(aborted(scope))))
      const client = await rawClient(gateway)
      client.write(request('GET /things'))
      await client.until(/data: 1/)
      client.socket.destroy()
      await ended.promise
      expect((await gateway.ended(1))[0]).to.include({ result: 'client_closed' })
    })

    it('that left while its stage did not listen: is over all the same', async () => {
      const gate = Promise.withResolvers<void>()
      const gone = Promise.withResolvers<void>()
      const cancelled = Promise.withResolvers<void>()
      gateway.answer(async ({ scope }) => {
        void aborted(scope).then(() => gone.resolve())
        await gate.promise
        const flow = { pause: () => undefined, resume: () => undefined, cancel: () => cancelled.resolve() }
        return {
          status: 200,
          headers: {},
          body: { kind: 'stream', source: { open: () => flow }, type: 'text/event-stream' },
        }
      })
      const client = await rawClient(gateway)
      client.write(request('GET /things'))
      client.socket.resetAndDestroy()
      await gone.promise
      gate.resolve()
      expect((await gateway.ended(1))[0]).to.include({ result: 'client_closed' })
      await cancelled.promise
    })

    it('comes to its end, though a stage cannot let go of what it held', async () => {
      const released: string[] = []
      gateway.answer(({ scope }) => {
        scope.onEnd?.(() => released.push('first'))
        scope.onEnd?.(() => {
          throw new Error('it is stuck')
        })
        scope.onEnd?.(() => released.push('last'))
        return json({ fine: true })
      })
      expect((await fetch(`${gateway.url}/things`)).status).to.equal(200)
      expect((await gateway.ended(1))[0]).to.include({ status: 200, result: 'completed' })
      expect(released).to.deep.equal(['first', 'last'])
      expect(gateway.lines.join('')).to.include('it is stuck')
    })

    it('in HTTP/1.0: is given whole', async () => {
      gateway.answer(() => json({ fine: true }))
      const text = await exchange(gateway, 'GET /things HTTP/1.0\r\n\r\n')
      expect(statuses(text)).to.deep.equal([200])
      expect(text).to.match(/\{"fine":true\}$/)
    })

    describe('with a stream', () => {
      /** A stream of these parts. */
      const parts = (...texts: readonly string[]) => ({
        status: 200,
        headers: {},
        body: {
          kind: 'stream' as const,
          type: 'text/event-stream',
          source: {
            open: (sink: Sink) => {
              setImmediate(() => {
                for (const text of texts) sink.data(Buffer.from(text))
                sink.end()
              })
              return { pause: () => undefined, resume: () => undefined, cancel: () => undefined }
            },
          },
        },
      })

      it('gets chunks that end, and its next answer on the same connection', async () => {
        gateway.answer(() => parts('data: \u00e9\n\n', '', 'data: 2\n\n'))
        const client = await rawClient(gateway)
        client.write(request('GET /things'))
        const first = await client.until(/\r\n0\r\n\r\n$/)
        expect(first)
          .to.match(/transfer-encoding: chunked/i)
          .and.match(/connection: keep-alive/i)
        const chunks = first.slice(first.indexOf('\r\n\r\n') + 4)
        const body = chunks.replaceAll(/^[0-9a-f]+\r\n|\r\n(?:[0-9a-f]+\r\n(?:\r\n)?)?/g, '')
        expect(Buffer.from(body, 'latin1').toString()).to.equal('data: \u00e9\n\ndata: 2\n\n')
        gateway.answer(() => json({ text: 'gr\u00fc\u00dfe \u{1f600}' }))
        client.write(request('GET /things'))
        const both = await client.until(/\{.*\}$/)
        expect(Buffer.from(both.slice(both.lastIndexOf('{')), 'latin1').toString()).to.equal(
          '{"text":"gr\u00fc\u00dfe \u{1f600}"}',
        )
        client.socket.destroy()
      })

      it('gets it without chunks in HTTP/1.0', async () => {
        gateway.answer(() => parts('data: 1\n\n', 'data: 2\n\n'))
        const text = await exchange(gateway, 'GET /things HTTP/1.0\r\n\r\n')
        expect(text).to.match(/\r\n\r\ndata: 1\n\ndata: 2\n\n$/)
        expect(text).not.to.match(/transfer-encoding/i)
      })
    })

    it('that must hear of garbage behind its request: hears nothing wrong', async () => {
      const begun = Promise.withResolvers<void>()
      const over = Promise.withResolvers<Error>()
      gateway.answer(async ({ scope }) => {
        begun.resolve()
        const reason = await aborted(scope)
        over.resolve(reason)
        throw reason
      })
      const client = await rawClient(gateway)
      client.write(request('GET /things'))
      await begun.promise
      client.write('\0\0\0garbage\r\n\r\n')
      // The 400 for the garbage would be read as the answer to the request.
      expect(await client.closed).to.equal('')
      expect(await over.promise).to.include({ code: 'client_closed' })
    })
  })

  it('is pulled from the provider no faster than its client reads, and given up in the end (B3)', async () => {
    const upstream = await scriptedUpstream()
    const chunk = encodeFrame({
      data: JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(100_000) } }] }),
    })
    function* endless() {
      for (let sent = 0; sent < 200_000_000; sent += chunk.length) yield chunk
    }
    upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: endless() })
    const gateway = await startGateway({
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url, api_key: 'k-0123456789' }],
      models: [{ name: 'm', provider: 'far' }],
      client_timeouts: { unread: '500ms' },
    })
    try {
      const client = await rawClient(gateway)
      client.socket.pause()
      const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] })
      client.write(
        request(
          'POST /v1/chat/completions',
          [`authorization: Bearer ${gateway.key}`, 'content-type: application/json'],
          body,
        ),
      )
      const asked = await upstream.received()
      await upstream.when(() => asked.blocked)
      const before = process.memoryUsage().rss
      await upstream.closed()
      expect(asked.sent).to.be.below(16_000_000)
      // The upstream of this test is in the same process.
      expect(process.memoryUsage().rss - before).to.be.below(100_000_000)
      expect((await gateway.rows(1)).at(-1)).to.include({ result: 'client_closed' })
      client.socket.destroy()
    } finally {
      await gateway.close()
      await upstream.close()
    }
  })
})
