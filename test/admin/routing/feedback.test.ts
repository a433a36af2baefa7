import { randomUUIDv7 } from 'node:crypto'
import { expect } from 'chai'
import { askAt, viewOf } from '../../support/admin.ts'
import type { SignedIn } from '../../support/admin.ts'
import { keysOf } from '../../support/keys.ts'
import { tablesOf } from '../../support/tables.ts'
import { routedRow, routingBlock } from '../../routing/seeing/rig.ts'
import { addRows, onEachDatabase, rowWith, startLogs } from '../logs/rig.ts'
import type { LogsGateway } from '../logs/rig.ts'

const day = 86_400_000

describe('feedback', () => {
  onEachDatabase((settings) => {
    let gateway: LogsGateway
    let owner: SignedIn
    before(async () => {
      const price = (input: number) => ({ provider: 'echo', pricing: { input, output: input }, auto_eligible: true })
      gateway = await startLogs({
        ...(await settings()),
        models: [
          { name: 'm-small', ...price(1) },
          { name: 'm-mid', ...price(2) },
          { name: 'm-other', ...price(3) },
          { name: 'm-large', ...price(9) },
          { name: 'm-free', provider: 'echo' },
        ],
      })
      owner = gateway.viewer
    })
    after(() => gateway.close())

    const add = async (fields = {}, routing = routingBlock()) => {
      const id = randomUUIDv7()
      await addRows(gateway, [routedRow(id, { key_id: gateway.own.id, ...fields }, routing)])
      return id
    }
    const post = 'POST /api/me/feedback'
    const labelOf = (id: string) =>
      tablesOf(gateway.engine.database)
        .selectFrom('routing_records_labels')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()

    it('is answered with the label, and kept', async () => {
      const id = await add()
      const { status, body, headers } = await owner.ask(post, { request_id: id, signal: 'weak', comment: 'too short' })
      expect(status).to.equal(201)
      expect(headers.get('cache-control')).to.equal('no-store')
      expect(Object.keys(body)).to.deep.equal(['request_id', 'signal', 'comment', 'at'])
      expect(body).to.include({ request_id: id, signal: 'weak', comment: 'too short' })
      expect(body['at']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      const shown = (await gateway.asAdmin(`GET /api/logs/${id}`)).body['feedback']
      expect(shown).to.deep.equal({ signal: 'weak', comment: 'too short', at: body['at'] })
    })

    it('needs no comment', async () => {
      const id = await add()
      const { body } = await owner.ask(post, { request_id: id, signal: 'ok' })
      expect(body).to.include({ signal: 'ok', comment: null })
    })

    it('is refused for its shape before anything is looked up', async () => {
      const request_id = 'unknown'
      const wrong = [
        [{ signal: 'ok' }, 'missing_field', 'request_id'],
        [{ request_id }, 'missing_field', 'signal'],
        [{ request_id, signal: 'good' }, 'invalid_field', 'signal'],
        [{ request_id, signal: 'ok', comment: 'c'.repeat(2_001) }, 'invalid_field', 'comment'],
        [{ request_id, signal: 'ok', comment: 'a\0' }, 'invalid_field', 'comment'],
        [{ request_id, signal: 'ok', comment: '\ud800' }, 'invalid_field', 'comment'],
        [{ request_id, signal: 'ok', score: 1 }, 'unknown_field', 'score'],
        [{ request_id: 7, signal: 'ok' }, 'invalid_field', 'request_id'],
      ] as const
      for (const [body, code, param] of wrong) {
        const answer = await owner.ask(post, body)
        expect(answer, JSON.stringify(body).slice(0, 80)).to.include({ status: 422, code, param })
      }
      expect(await owner.ask(`${post}?force=1`, { request_id, signal: 'ok' })).to.include({ code: 'unknown_field' })
    })

    it('takes a comment of 2,000 characters', async () => {
      const comment = '𝄞'.repeat(2_000)
      const { status, body } = await owner.ask(post, { request_id: await add(), signal: 'ok', comment })
      expect([status, body['comment']]).to.deep.equal([201, comment])
    })

    it('finds no request of another key, and tells it like an unknown one', async () => {
      const id = await add({ key_id: 'someone' })
      const answers = await Promise.all(
        [id, 'unknown', '\0'].map((request_id) => owner.ask(post, { request_id, signal: 'ok' })),
      )
      for (const answer of answers) expect(answer).to.include({ status: 404, code: 'not_found' })
      const words = answers.map(({ body }) =>
        JSON.stringify(body).replaceAll(/"There is no request .* to rate\."/g, ''),
      )
      expect(new Set(words).size).to.equal(1)
      expect(await labelOf(id)).to.equal(undefined)
      expect((await gateway.asAdmin(post, { request_id: id, signal: 'ok' })).status).to.equal(201)
    })

    it('is refused for what was not routed', async () => {
      const plain = randomUUIDv7()
      await addRows(gateway, [rowWith(plain, { key_id: gateway.own.id })])
      const refused = await add({ status: 400, result: 'refused' }, routingBlock({ chosen: null, served: null }))
      const unpaid = await add({ status: 429, result: 'refused' })
      const judge = await add({ type: 'judge' })
      for (const request_id of [plain, refused, unpaid, judge])
        expect(await owner.ask(post, { request_id, signal: 'ok' })).to.include({ status: 422, code: 'not_routed' })
    })

    it('is taken for a routed request that failed', async () => {
      const id = await add({ status: 502, result: 'failed' })
      expect((await owner.ask(post, { request_id: id, signal: 'weak' })).status).to.equal(201)
    })

    it('is given once, whoever gives it', async () => {
      const id = await add()
      const asks = [owner.ask, gateway.asAdmin, owner.ask, gateway.asAdmin]
      const answers = await Promise.all(asks.map((ask) => ask(post, { request_id: id, signal: 'ok' })))
      expect(answers.map(({ status }) => status)).to.have.members([201, 409, 409, 409])
      const late = await owner.ask(post, { request_id: id, signal: 'weak' })
      expect(late).to.include({ status: 409, code: 'feedback_exists' })
      expect((await labelOf(id))?.signal).to.equal('ok')
    })

    it('waits for the row of a request that has just ended', async () => {
      const id = randomUUIDv7()
      const early = owner.ask(post, { request_id: id, signal: 'ok' })
      await addRows(gateway, [routedRow(id, { key_id: gateway.own.id })])
      expect((await early).status).to.equal(201)
    })

    it('waits in vain for a row that never comes', async () => {
      const answer = await owner.ask(post, { request_id: randomUUIDv7(), signal: 'ok' })
      expect(answer).to.include({ status: 404, code: 'not_found' })
    })

    it('is kept for a request of more than seven days ago, which nobody learns from', async () => {
      const [young, old] = [await add({ at: Date.now() - 6.99 * day }), await add({ at: Date.now() - 7.01 * day })]
      for (const id of [young, old])
        expect((await owner.ask(post, { request_id: id, signal: 'weak' })).status).to.equal(201)
      expect([(await labelOf(young))?.applied, (await labelOf(old))?.applied]).to.deep.equal([1, 0])
    })

    it('teaches later decisions of the same process at once', async () => {
      const experience = viewOf(gateway.engine, 'experience')
      const prior = { mean: 0.8, window: 100, strength: 5, implicit: true }
      const known = (model: string, mode: 'fast' | 'best' = 'best') => {
        const { a, b } = experience.posterior({ model, mode, tier: 'COMPLEX' }, prior)
        return [a, b].map((one) => Number(one.toFixed(6)))
      }
      const arms = ['m-free', 'm-large', 'm-mid', 'm-other', 'm-small'].map((model) => {
        return { model, a: 4, b: 1, c: 0, pass: model !== 'm-other' }
      })
      const routing = routingBlock({
        mode: 'best',
        tier: 'COMPLEX',
        chosen: 'm-small',
        served: 'm-large',
        propensity: { policy: 'ts-1', seed: '', trial_p: 0, arms },
      })
      const rated = async (signal: string) => owner.ask(post, { request_id: await add({}, routing), signal })
      await rated('weak')
      expect(known('m-large')).to.deep.equal([4, 2])
      await rated('ok')
      expect(known('m-large')).to.deep.equal([5, 2])
      await rated('strong')
      expect(known('m-large')).to.deep.equal([5.5, 2])
      // The dearest of those that cost less and passed the gates.
      expect(known('m-mid')).to.deep.equal([4.5, 1])
      for (const other of ['m-small', 'm-other', 'm-free']) expect(known(other), other).to.deep.equal([4, 1])
      expect(known('m-large', 'fast')).to.deep.equal([4, 1])
    })

    it('is given by applications for their own requests', async () => {
      const ask = askAt(gateway.url, gateway.own.text)
      const id = await add()
      const other = await add({ key_id: 'someone' })
      const give = 'POST /v1/feedback'
      const { status, body } = await ask(give, { request_id: id, signal: 'strong' })
      expect([status, body['signal'], body['comment']]).to.deep.equal([201, 'strong', null])
      expect(await ask(give, { request_id: id, signal: 'ok' })).to.include({ status: 409, code: 'feedback_exists' })
      expect(await ask(give, { request_id: other, signal: 'ok' })).to.include({ status: 404, code: 'not_found' })
      expect(await ask(give, { request_id: other })).to.include({ status: 422, code: 'missing_field' })
      expect(await ask(post, { request_id: id, signal: 'ok' })).to.include({ status: 401, code: 'invalid_token' })
      expect(await owner.ask(give, { request_id: id, signal: 'ok' })).to.include({
        status: 401,
        code: 'invalid_api_key',
      })
    })

    it('is not audited', async () => {
      await owner.ask(post, { request_id: await add(), signal: 'ok', comment: 'a remark' })
      const { body } = await gateway.asAdmin('GET /api/logs/audit?limit=200')
      expect(JSON.stringify(body)).not.to.include('a remark')
    })

    it('is listed for those who gave it, by their keys as well', async () => {
      const member = await gateway.addMember()
      const key = await keysOf(gateway.engine).create({ name: `list-${member.username}`, owner: member.id })
      const ids: string[] = []
      for (const ask of [member.ask, askAt(gateway.url, key.text), member.ask]) {
        const id = await add({ key_id: key.id })
        const route = ask === member.ask ? post : 'POST /v1/feedback'
        expect((await ask(route, { request_id: id, signal: 'ok' })).status).to.equal(201)
        ids.push(id)
      }
      const list = async (query: string) => {
        const { body } = await member.ask(`GET /api/me/feedback${query}`)
        return body as {
          readonly data: readonly { readonly request_id: string }[]
          readonly next_cursor: string | null
        }
      }
      const newest = await list('')
      expect(newest.data.map(({ request_id: id }) => id)).to.deep.equal(ids.toReversed())
      expect(newest.next_cursor).to.equal(null)
      expect(Object.keys(newest.data[0] ?? {})).to.deep.equal(['request_id', 'signal', 'comment', 'at'])
      const first = await list('?limit=2&sort=at')
      const second = await list(`?limit=2&sort=at&cursor=${first.next_cursor}`)
      const paged = [...first.data, ...second.data].map(({ request_id: id }) => id)
      expect(paged).to.deep.equal(ids)
      expect(second.next_cursor).to.equal(null)
      expect(await member.ask('GET /api/me/feedback?cursor=x')).to.include({ status: 422, code: 'invalid_cursor' })
      expect((await gateway.asViewer('GET /api/me/feedback')).body['data']).not.to.deep.include({ request_id: ids[0] })
    })

    it('goes with the row of its request', async () => {
      const id = await add({ at: Date.now() - 40 * day })
      await owner.ask(post, { request_id: id, signal: 'ok' })
      const before = new Date(Date.now() - 39 * day).toISOString()
      await gateway.asAdmin('POST /api/logs/cleanup', { before, captures_only: true })
      expect(await labelOf(id)).not.to.equal(undefined)
      await gateway.asAdmin('POST /api/logs/cleanup', { before })
      expect(await labelOf(id)).to.equal(undefined)
    })
  })
})
