import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { viewOf } from '../../support/admin.ts'
import type { SignedIn } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import { keysOf } from '../../support/keys.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { until } from '../../support/until.ts'
import { addRows, onEachDatabase, rowWith, startLogs } from './rig.ts'
import type { LogsGateway } from './rig.ts'

interface Heard {
  readonly event: string
  readonly id?: string
  readonly data: JsonObject
}

/** A reader of new rows. */
interface Reader {
  readonly status: number
  readonly headers: Headers
  readonly text: () => string
  readonly heard: () => readonly Heard[]
  /** The ids of the rows so far. */
  readonly ids: () => readonly (string | undefined)[]
  readonly ended: Promise<void>
  leave(): void
}

async function read(url: string, token: string, query = '', headers: Record<string, string> = {}): Promise<Reader> {
  const abort = new AbortController()
  const response = await fetch(`${url}/api/logs/tail${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: abort.signal,
  })
  let text = ''
  const ended = (async () => {
    for await (const chunk of response.body as ReadableStream<Uint8Array>) text += Buffer.from(chunk).toString()
  })()
  ended.catch(() => undefined)
  const heard = () => text.split('\n\n').slice(0, -1).flatMap(heardIn)
  const ids = () => heard().flatMap((one) => (one.event === 'row' ? [one.id] : []))
  return {
    status: response.status,
    headers: response.headers,
    text: () => text,
    heard,
    ids,
    ended,
    leave: () => abort.abort(),
  }
}

function heardIn(frame: string): Heard[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1]
  const [event, id, data] = [field('event'), field('id'), field('data')]
  if (event === undefined || data === undefined) return []
  return [{ event, ...(id === undefined ? {} : { id }), data: JSON.parse(data) as JsonObject }]
}

describe('GET /api/logs/tail', () => {
  onEachDatabase((settings) => {
    let gateway: LogsGateway
    /** The reader who came first. */
    let first: Reader
    const readers: Reader[] = []
    before(async () => {
      gateway = await startLogs(await settings())
      await add('before')
      first = await tail()
    })
    after(async () => {
      for (const reader of readers) reader.leave()
      await gateway.close()
    })
    const anAdmin = () => gateway.addMember({ role: 'admin' })

    let added = 0
    /** Adds a row that has just ended, as every process that shares the database does. */
    const add = async (id: string, fields: Parameters<typeof rowWith>[1] = {}) => {
      added += 1
      await addRows(gateway, [rowWith(id, { at: Date.now() - 50, ended: Date.now() + added, ...fields })])
    }
    const tail = async (query = '', headers: Record<string, string> = {}, who?: SignedIn) => {
      const { token } = who ?? (await anAdmin())
      const reader = await read(gateway.url, token, query, headers)
      readers.push(reader)
      return reader
    }
    /** Resolves once a reader hears of new rows: what was there when it came is nothing new. */
    const ready = async (reader: Reader, fields: Parameters<typeof rowWith>[1] = {}) => {
      await until(async () => {
        await add(`probe-${added}`, fields)
        return reader.ids().length > 0
      })
    }
    const rowsOf = (reader: Reader) => reader.ids().filter((id) => !id?.startsWith('probe'))

    it('tells rows as they are written, as they stand in the list', async () => {
      expect(first.status).to.equal(200)
      expect(first.headers.get('content-type')).to.equal('text/event-stream')
      expect(first.headers.get('cache-control')).to.equal('no-store')
      await ready(first)
      const response = await gateway.post('/v1/chat/completions', {
        model: 'echo',
        messages: [{ role: 'user', content: 'a' }],
      })
      await response.text()
      const id = response.headers.get('x-request-id') ?? ''
      await until(() => first.ids().includes(id))
      const listed = await gateway.asAdmin(`GET /api/logs?search=${id}`)
      const told = first.heard().find((one) => one.id === id)
      expect(told).to.deep.equal({ event: 'row', id, data: (listed.body['data'] as JsonObject[])[0] })
      expect(first.ids()).not.to.include('before')
      expect(new Set(first.ids())).to.have.property('size', first.ids().length)
    })

    it('tells rows of other processes that share the database', async () => {
      const reader = await tail()
      await ready(reader)
      const other = await startGateway({ database: gateway.engine.database.url })
      try {
        const response = await other.post('/v1/chat/completions', {
          model: 'echo',
          messages: [{ role: 'user', content: 'a' }],
        })
        await response.text()
        await until(() => reader.ids().includes(response.headers.get('x-request-id') ?? ''))
      } finally {
        await other.close()
      }
    })

    sideBySide('tells only what the filters want, and a viewer only of own keys', async () => {
      const audio = await tail('?type=audio&status=2xx')
      const viewer = await tail('', {}, gateway.viewer)
      const own = { key_id: gateway.own.id, type: 'audio' }
      await ready(viewer, own)
      await ready(audio, own)
      await add('chat', { key_id: gateway.own.id })
      await add('failed', { type: 'audio', status: 500 })
      await add('strange', { type: 'audio', key_id: 'other' })
      await add('both', own)
      await until(() => rowsOf(audio).includes('both') && rowsOf(viewer).includes('both'))
      expect(rowsOf(audio)).to.deep.equal(['strange', 'both'])
      expect(rowsOf(viewer)).to.deep.equal(['chat', 'both'])
      // A key that the viewer gets while the stream is open counts, too.
      const later = await keysOf(gateway.engine).create({ name: 'later', owner: gateway.viewer.id })
      await add('later', { key_id: later.id })
      await until(() => rowsOf(viewer).includes('later'))
    })

    it('sends again what a reader has missed, and then goes on', async () => {
      const now = Date.now()
      await addRows(
        gateway,
        ['a', 'b', 'c', 'd'].map((id, index) =>
          rowWith(id, { at: now - 100_000, ended: now - 60_000 + index, type: id === 'c' ? 'images' : 'embeddings' }),
        ),
      )
      const reader = await tail('?type=embeddings', { 'last-event-id': 'a' })
      await until(() => reader.ids().length === 2)
      expect(reader.ids()).to.deep.equal(['b', 'd'])
      const other = await tail('', { 'last-event-id': 'unknown' })
      await ready(other)
      for (const id of ['a', 'b', 'c', 'd']) expect(other.ids()).not.to.include(id)
    })

    it('sends at most the last thousand again, and says how many it leaves out', async () => {
      const now = Date.now()
      const many = Array.from({ length: 1_006 }, (_, index) =>
        rowWith(`old-${index}`, { at: now - 100_000, ended: now - 60_000 + index, type: 'mapeval' }),
      )
      for (let from = 0; from < many.length; from += 200) await addRows(gateway, many.slice(from, from + 200))
      const reader = await tail('?type=mapeval', { 'last-event-id': 'old-0' })
      await until(() => reader.ids().length === 1_000)
      expect(reader.heard()[0]).to.deep.equal({ event: 'gap', data: { dropped: 5 } })
      expect(reader.ids()).to.deep.equal(many.slice(6).map(({ id }) => id))
    })

    sideBySide('ends when the session is revoked', async () => {
      const member = await anAdmin()
      const reader = await tail('', {}, member)
      expect((await member.ask('POST /api/auth/logout')).status).to.equal(204)
      await reader.ended
      expect(reader.heard().at(-1)).to.deep.equal({ event: 'end', data: { reason: 'revoked' } })
    })

    sideBySide('ends when the session expires', async () => {
      const member = await gateway.addMember()
      const sessions = viewOf(gateway.engine, 'sessions')
      const expired = `${member.token.split('.')[0]}.${Buffer.from('{"exp":1}').toString('base64url')}.x`
      // The clock of a token is in whole seconds: a finder that knows another one stands in for it.
      let known = true
      sessions.from((token) =>
        known && token === expired ? { kind: 'member', id: member.id, name: 'm', role: 'viewer' } : undefined,
      )
      const reader = await tail('', {}, { ...member, token: expired })
      expect(reader.status).to.equal(200)
      known = false
      await reader.ended
      expect(reader.heard().at(-1)).to.deep.equal({ event: 'end', data: { reason: 'expired' } })
    })

    it('is open at most eight times for a member', async () => {
      const member = await anAdmin()
      const open = await Promise.all(Array.from({ length: 8 }, () => tail('', {}, member)))
      expect(open.map(({ status }) => status)).to.deep.equal(Array(8).fill(200))
      expect(await member.ask('GET /api/logs/tail')).to.include({ status: 429, code: 'rate_limit_exceeded' })
      expect((await tail()).status).to.equal(200)
      open[0]?.leave()
      await until(async () => {
        const again = await read(gateway.url, member.token)
        readers.push(again)
        return again.status === 200
      })
    })

    sideBySide('tells a slow reader how many rows it has missed', async () => {
      const events: Heard[] = []
      const view = viewOf(gateway.engine, 'requests')
      let checks = 0
      const over = () => {
        checks += 1
        return Promise.resolve(undefined)
      }
      const flow = view.tail(gateway.admin.id, {}, { filter: () => ({}), over }).open({
        data: (chunk) => events.push(...heardIn(Buffer.from(chunk).toString())),
        end: () => undefined,
        fail: () => undefined,
      })
      const other = await tail()
      await ready(other)
      await until(() => events.length > 0)
      flow.pause()
      const heard = events.length
      const now = Date.now()
      const many = Array.from({ length: 1_100 }, (_, index) =>
        rowWith(`row-${String(index).padStart(4, '0')}`, { at: now, ended: now + index }),
      )
      for (let from = 0; from < many.length; from += 220) await addRows(gateway, many.slice(from, from + 220))
      await until(() => other.ids().includes('row-1099'))
      // The rows came to the slow reader first, and it does one thing after the other.
      const done = checks + 2
      await until(() => checks >= done)
      expect(events).to.have.length(heard)
      flow.resume()
      const told = events.slice(heard)
      expect(told.slice(0, -1).every(({ event }) => event === 'row')).to.equal(true)
      expect(told).to.have.length(1_001)
      const { event, data } = told.at(-1) as Heard
      expect(event).to.equal('gap')
      expect(data['dropped']).to.be.at.least(100)
      flow.cancel(new Error('the test is over'))
    })

    it('refuses what no query of it has', async () => {
      expect(await gateway.asAdmin('GET /api/logs/tail?since=2026-11-01T12:00:00Z')).to.include({
        status: 422,
        code: 'unknown_field',
        param: 'since',
      })
      expect(await gateway.asAdmin('GET /api/logs/tail?status=many')).to.include({ status: 422, param: 'status' })
      expect(await gateway.asKey('GET /api/logs/tail')).to.include({ status: 401, code: 'invalid_token' })
    })

    it('ends when the gateway stops', async () => {
      const reader = await tail()
      await gateway.engine.close(1_000)
      await reader.ended
      expect(reader.heard().at(-1)).to.deep.equal({ event: 'end', data: { reason: 'draining' } })
    })
  })
})
