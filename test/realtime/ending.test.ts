import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { shipped } from '../../engine/config/shipped.ts'
import { keysOf } from '../support/keys.ts'
import { until } from '../support/until.ts'
import { startRig } from './rig.ts'
import type { Rig, RigSettings, Talk } from './rig.ts'

const usage = { input_tokens: 100, output_tokens: 10 }
const done = { type: 'response.done', response: { status: 'completed', usage } }
const created = { type: 'response.created', response: { id: 'resp_1' } }
/** The first bytes of a text message of 4,096 bytes, as a client and as a server write them. */
const part = {
  client: Buffer.from([0x81, 0xfe, 0x10, 0, 0, 0, 0, 0, 0x7b]),
  upstream: Buffer.from([0x81, 0x7e, 0x10, 0, 0x7b]),
}

describe('realtime/ending', () => {
  let rig: Rig
  const start = async (settings?: RigSettings) => (rig = await startRig(settings))
  afterEach(() => rig.close())

  const row = async () => {
    const found = await rig.gateway.row(({ type }) => type === 'realtime')
    return { ...found, metadata: JSON.parse(found.metadata) as JsonObject }
  }
  const sockets = ({ client, met }: Talk) => ({
    client: (client.socket as unknown as { readonly _socket: Socket })._socket,
    upstream: met.request.socket,
  })
  const opened = (talk: Talk) => (
    talk.client.send({ type: 'session.update', session: {} }),
    talk.say({ type: 'session.created' })
  )

  /** How far a session has come when one of its legs dies. */
  const points: Readonly<Record<string, (talk: Talk, dying: 'client' | 'upstream') => unknown>> = {
    'before anybody has said a word': () => undefined,
    'after the first event': (talk) => opened(talk),
    'within a response': async (talk) => {
      await opened(talk)
      await talk.say(created)
      await talk.say({ type: 'response.output_audio.delta', delta: 'AAAA' })
    },
    'within a message': async (talk, dying) => {
      await opened(talk)
      sockets(talk)[dying].write(part[dying])
    },
    'after a turn': async (talk) => {
      await talk.say(created)
      await talk.say(done)
    },
    'while the other side sends': async (talk, dying) => {
      const sending = dying === 'client' ? talk.met.socket : talk.client.socket
      for (let index = 0; index < 50; index++) sending.send('x'.repeat(10_000))
    },
  }
  for (const [point, bring] of Object.entries(points)) {
    it(`closes the client with 1011 when the upstream dies ${point}`, async () => {
      await start()
      const talk = await rig.talk()
      await bring(talk, 'upstream')
      sockets(talk).upstream.destroy()
      expect((await talk.client.closed).code).to.equal(1011)
      const { metadata, ...written } = await row()
      expect(written).to.include({ status: 101, result: 'failed', error: 'upstream_error' })
      expect(metadata['close']).to.deep.equal({ by: 'upstream', code: 1006 })
      expect(written.cost_micros).to.equal(point === 'after a turn' ? 560 : 0)
      expect(rig.upstream.upgrades).to.have.length(1)
    })

    it(`closes the upstream with 1001 when the client dies ${point}`, async () => {
      await start()
      const talk = await rig.talk()
      await bring(talk, 'client')
      sockets(talk).client.destroy()
      expect((await talk.met.closed).code).to.equal(1001)
      const { metadata, ...written } = await row()
      expect(written).to.include({ status: 101, result: 'client_closed' })
      expect(metadata['close']).to.deep.equal({ by: 'client', code: 1006 })
      expect(written.cost_micros).to.equal(point === 'after a turn' ? 560 : 0)
      await rig.upstream.when(() => rig.upstream.connections === 0)
    })
  }

  describe('before the session is open', () => {
    it('lets go of an upstream that has not answered when the client leaves', async () => {
      await start()
      rig.upstream.welcome('silent')
      const client = rig.dial('model=rt')
      await rig.upstream.when(() => rig.upstream.upgrades.length === 1)
      client.socket.terminate()
      await rig.upstream.when(() => rig.upstream.connections === 0)
      expect(await row()).to.include({ result: 'client_closed', cost_micros: 0 })
    })

    for (const [whose, settings] of [
      ['the gateway', { server_config: { resilience: { timeouts: { connect: '200ms' } } } }],
      ['the provider', { first: { timeouts: { connect: '200ms' } } }],
    ] as const)
      it(`asks another one when the upstream does not answer within the time for connections of ${whose}`, async () => {
        await start(settings)
        rig.upstream.welcome('silent')
        const client = rig.dial('model=rt')
        await rig.other.when(() => rig.other.sessions.length === 1)
        await rig.upstream.when(() => rig.upstream.connections === 0)
        client.socket.on('open', () => client.socket.close())
        if (client.socket.readyState === client.socket.OPEN) client.socket.close()
        expect((await row()).model).to.equal('second')
      })

    it('asks another one when the upstream hangs up', async () => {
      await start({ server_config: { resilience: { retries: { tries: 4, wait: '1ms' } } } })
      rig.upstream.welcome('silent')
      const client = rig.dial('model=rt')
      for (let count = 1; rig.other.upgrades.length === 0; count++) {
        await Promise.race([
          rig.upstream.when(() => rig.upstream.upgrades.length === count),
          rig.other.when(() => rig.other.upgrades.length > 0),
        ])
        rig.upstream.upgrades.at(-1)?.socket.destroy()
      }
      await rig.other.when(() => rig.other.sessions.length === 1)
      client.socket.on('open', () => client.socket.close())
      if (client.socket.readyState === client.socket.OPEN) client.socket.close()
      expect(await row()).to.include({ model: 'second', result: 'completed' })
    })
  })

  describe('passes on a close', () => {
    for (const [code, reason] of [
      [1000, 'done'],
      [1001, ''],
      [1008, 'policy'],
      [1013, 'later'],
      [3000, 'ours'],
      [4999, 'theirs'],
      [undefined, ''],
    ] as const) {
      const seen = { code: code ?? 1005, reason }
      it(`of the upstream with ${seen.code}`, async () => {
        await start()
        const { client, met } = await rig.talk()
        if (code === undefined) met.socket.close()
        else met.socket.close(code, reason)
        expect(await client.closed).to.deep.equal(seen)
        const { metadata, result } = await row()
        expect(result).to.equal('completed')
        expect(metadata['close']).to.deep.equal({ by: 'upstream', code: seen.code })
      })

      it(`of the client with ${seen.code}`, async () => {
        await start()
        const { client, met } = await rig.talk()
        if (code === undefined) client.socket.close()
        else client.socket.close(code, reason)
        expect(await met.closed).to.deep.equal(seen)
        expect((await row()).metadata['close']).to.deep.equal({ by: 'client', code: seen.code })
      })
    }

    it('to a side that does not answer it, which is cut', async () => {
      await start({ limits: { sockets: { closeTimeout: 20 } } })
      const { client, met } = await rig.talk()
      met.request.socket.pause()
      client.socket.close(1000)
      await row()
      met.request.socket.resume()
      await rig.upstream.when(() => rig.upstream.connections === 0)
    })
  })

  describe('ends a session', () => {
    it('whose key is revoked', async () => {
      await start()
      const made = await keysOf(rig.gateway.engine).create({ name: 'brief' })
      const { client, met } = await rig.talk('model=rt', { headers: { authorization: `Bearer ${made.text}` } })
      await keysOf(rig.gateway.engine).revoke({ id: made.id, name: 'brief' })
      const told = (await client.nextJson()) as { error: JsonObject }
      expect(told.error).to.include({ code: 'invalid_api_key', type: 'invalid_request_error' })
      expect(told).not.to.have.property('status')
      expect((await client.closed).code).to.equal(4401)
      expect((await met.closed).code).to.equal(1000)
      expect((await row()).metadata['close']).to.deep.equal({ by: 'gateway', code: 4401 })
    })

    it('that has lasted as long as one may', async () => {
      await start({ limits: { sockets: { age: 300 } } })
      const { client, met } = await rig.talk()
      expect(await client.nextJson()).to.have.nested.property('error.code', 'websocket_connection_limit_reached')
      expect((await client.closed).code).to.equal(1001)
      expect((await met.closed).code).to.equal(1000)
      expect((await row()).metadata['close']).to.deep.equal({ by: 'gateway', code: 1001 })
    })

    for (const side of ['client', 'upstream'] as const)
      it(`in which the ${side} sends too much at once`, async () => {
        await start({ limits: { sockets: { message: 1_000 } } })
        const { client, met } = await rig.talk()
        const speaker = side === 'client' ? client.socket : met.socket
        speaker.send('x'.repeat(2_000))
        expect((await client.closed).code).to.equal(1009)
        expect((await met.closed).code).to.equal(side === 'client' ? 1000 : 1009)
        expect((await row()).metadata['close']).to.deep.equal({ by: 'gateway', code: 1009 })
      })

    it('whose upstream takes nothing', async () => {
      await start({ limits: { sockets: { stalled: 100, closeTimeout: 100 } } })
      const { client, met } = await rig.talk()
      met.request.socket.pause()
      for (let index = 0; index < 100; index++) client.socket.send('x'.repeat(256 * 1024))
      expect((await client.closed).code).to.equal(1013)
      expect((await row()).metadata['close']).to.deep.equal({ by: 'gateway', code: 1013 })
    })

    it('whose client takes nothing', async () => {
      await start({ limits: { sockets: { stalled: 100, closeTimeout: 100 } } })
      const { client, met } = await rig.talk()
      client.socket.pause()
      for (let index = 0; index < 100; index++) met.socket.send('x'.repeat(256 * 1024))
      expect((await met.closed).code).to.equal(1000)
      expect((await row()).metadata['close']).to.deep.equal({ by: 'gateway', code: 1013 })
      client.socket.terminate()
    })

    it('whose upstream answers no pings', async () => {
      await start({ limits: { sockets: { beat: 200 } } })
      const talk = await rig.talk()
      sockets(talk).upstream.pause()
      expect((await talk.client.closed).code).to.equal(1011)
      sockets(talk).upstream.destroy()
    })

    it('whose client answers no pings', async () => {
      await start({ limits: { sockets: { beat: 200 } } })
      const talk = await rig.talk()
      sockets(talk).client.pause()
      expect((await talk.met.closed).code).to.equal(1001)
      sockets(talk).client.destroy()
    })
  })

  it('answers pings itself, on either side', async () => {
    await start()
    const { client, met } = await rig.talk()
    let relayed = 0
    met.socket.on('ping', () => relayed++)
    client.socket.on('ping', () => relayed++)
    for (const side of [client.socket, met.socket]) {
      const { promise, resolve } = Promise.withResolvers<void>()
      side.once('pong', () => resolve())
      side.ping('hello')
      await promise
    }
    expect(relayed).to.equal(0)
  })

  describe('when the gateway stops', () => {
    it('ends a session at once in which nothing is under way', async () => {
      await start()
      const { client, met, say } = await rig.talk()
      await say(created)
      await say(done)
      const closing = rig.gateway.engine.close(3_600_000)
      expect((await client.closed).code).to.equal(1001)
      expect((await met.closed).code).to.equal(1001)
      await closing
    })

    it('lets a response end first', async () => {
      await start()
      const { client, met, say } = await rig.talk()
      await say(created)
      const closing = rig.gateway.engine.close(3_600_000)
      await until(() =>
        fetch(rig.gateway.url).then(
          () => false,
          () => true,
        ),
      )
      expect(await say({ type: 'response.output_text.delta', delta: 'more' })).to.include('more')
      expect(await say(done)).to.include('response.done')
      expect((await client.closed).code).to.equal(1001)
      expect((await met.closed).code).to.equal(1001)
      await closing
    })

    it('lets two responses end first, in whatever order', async () => {
      await start()
      const { client, say } = await rig.talk()
      const ids = ['resp_1', 'resp_2']
      for (const id of ids) await say({ type: 'response.created', response: { id } })
      const closing = rig.gateway.engine.close(3_600_000)
      await until(() =>
        fetch(rig.gateway.url).then(
          () => false,
          () => true,
        ),
      )
      for (const id of ids.toReversed()) {
        expect(await say({ type: 'response.output_text.delta', delta: id })).to.include(id)
        expect(await say({ type: 'response.done', response: { id, status: 'completed', usage } })).to.include(id)
      }
      expect((await client.closed).code).to.equal(1001)
      await closing
    })

    for (const [name, answers] of Object.entries({
      'that the client has asked for': [created, done],
      'that the provider refuses': [{ type: 'error', error: { code: 'conversation_already_has_active_response' } }],
    }))
      it(`waits for a response ${name}`, async () => {
        await start()
        const { client, met, say } = await rig.talk()
        client.send({ type: 'response.create' })
        await rig.upstream.when(() => met.heard.length === 1)
        const closing = rig.gateway.engine.close(3_600_000)
        await until(() =>
          fetch(rig.gateway.url).then(
            () => false,
            () => true,
          ),
        )
        for (const answer of answers) expect(await say(answer)).to.equal(JSON.stringify(answer))
        expect((await client.closed).code).to.equal(1001)
        await closing
      })

    it('does not wait for a response beyond its deadline', async () => {
      await start()
      const { client, met, say } = await rig.talk()
      await say(created)
      const closing = rig.gateway.engine.close(50)
      expect((await client.closed).code).to.equal(1001)
      expect((await met.closed).code).to.equal(1001)
      await closing
    })
  })

  describe('limits open sessions', () => {
    let folder: string
    const limited = async (limit: string): Promise<RigSettings> => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-realtime-'))
      const text = await readFile(join(shipped.pipelines, 'realtime.yaml'), 'utf8')
      await writeFile(join(folder, 'realtime.yaml'), text.replace('{ per_key: 64, per_process: 1024 }', limit))
      return { pipelines: folder, plugins: [] }
    }
    afterEach(() => rm(folder, { recursive: true, force: true }))

    for (const limit of ['{ per_key: 1 }', '{ per_process: 1 }'])
      it(`to ${limit}`, async () => {
        await start(await limited(limit))
        const { client, met } = await rig.talk()
        const second = rig.dial('model=rt')
        expect(await second.nextJson()).to.have.nested.property('error.code', 'overloaded')
        expect((await second.closed).code).to.equal(1013)
        expect(rig.upstream.upgrades).to.have.length(1)
        client.socket.close()
        await met.closed
        await rig.gateway.rows(2)
        await rig.talk()
      })
  })
})
