import { writeFile } from 'node:fs/promises'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer } from '../service/streams.ts'
import { isSigned, receiver, secret } from './receiver.ts'
import type { Receiver } from './receiver.ts'

const prompt = 'The treasure lies under the oak.'
const upstreamKey = 'sk-upstream-canary-0123456789abcdef'
const hook = 'services/T0CANARY/XxCanary0123456789'
const messages = [{ role: 'user', content: prompt }]

describe('notifications', () => {
  let folder: string
  let upstream: ScriptedUpstream
  let ops: Receiver
  let slack: Receiver
  let gateway: AdminGateway
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-notifications-'))
    upstream = await scriptedUpstream()
    ops = await receiver()
    slack = await receiver()
    gateway = await startAdmin({
      folder,
      server_config: {
        notifications: {
          hold: '0s',
          to: [
            { name: 'ops', url: `${ops.url}/hook`, secret },
            { name: 'chat', url: `${slack.url}/${hook}`, form: 'slack', causes: ['circuit'] },
          ],
        },
        resilience: { retries: { tries: 1 }, breaker: { failures: 2, open: '10m' } },
      },
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url, api_key: upstreamKey }],
      models: [{ name: 'm', provider: 'far', pricing: { input: 100_000, output: 100_000 } }],
    })
  })
  after(async () => {
    await gateway.close()
    await Promise.all([upstream.close(), ops.close(), slack.close()])
    await rm(folder, { recursive: true, force: true })
  })

  const ask = (headers: Record<string, string> = {}) =>
    gateway.post('/v1/chat/completions', { model: 'm', messages }, headers).then(async (answer) => {
      await answer.text()
      return answer.status
    })
  const shown = async () => (await gateway.asAdmin('GET /api/notifications')).body
  const open = async (cause: string) =>
    ((await shown())['open'] as JsonObject[]).filter((one) => one['cause'] === cause)
  const states = (cause: string) => ops.of(cause).map(({ state }) => state)

  it('say that a circuit has opened, and that it is closed again, signed', async () => {
    upstream.answer({ status: 503, body: { error: { message: prompt } } })
    await ask()
    await ask()
    await until(() => states('circuit').length === 1)
    const [notice] = ops.of('circuit')
    expect(notice).to.include({ state: 'begin', subject: 'far / m' })
    expect(notice?.facts).to.include({ provider: 'far', model: 'm', failures: 2, status: 503, state: 'open' })
    expect(notice?.link).to.match(/^http:\/\/[^/]+\/providers\/far$/)
    const [post] = ops.received
    expect(post?.path).to.equal('/hook')
    expect(post && isSigned(post)).to.equal(true)
    expect(post && isSigned(post, Buffer.from('another key of twenty-four bytes'))).to.equal(false)
    await until(() => slack.received.length === 1)
    const message = slack.received[0]?.body as unknown as {
      readonly text: string
      readonly blocks: readonly JsonObject[]
    }
    expect(message.text).to.equal('Circuit open: far / m.')
    expect(JSON.stringify(message.blocks)).to.include('*failures*: 2').and.include('/providers/far|Show>')
    expect(slack.received[0]?.headers).not.to.have.property('webhook-signature')
    expect(await open('circuit')).to.have.length(1)
    expect((await open('circuit'))[0]).to.include({ id: notice?.id, subject: 'far / m' })
    expect((await gateway.asAdmin('POST /api/config/circuit-breaker/far/reset')).status).to.equal(200)
    await until(() => states('circuit').length === 2)
    expect(states('circuit')).to.deep.equal(['begin', 'end'])
    expect(ops.of('circuit')[1]?.id).to.equal(notice?.id)
    expect(await open('circuit')).to.deep.equal([])
    upstream.answer({ body: chatAnswer })
  })

  it('say when a share of a budget is spent, and when it is all', async () => {
    const made = await gateway.asAdmin('POST /api/api-keys', { name: 'spender', budget: { usd: 5, period: 'month' } })
    const headers = { authorization: `Bearer ${made.body['key'] as string}` }
    // 13 tokens at $ 0.1 each.
    for (const _ of [1, 2, 3]) expect(await ask(headers)).to.equal(200)
    const subject = (share: string) => `The API key "spender" has spent ${share} of its budget`
    expect(await open('budget')).to.deep.equal([])
    expect(await ask(headers)).to.equal(200)
    await until(() => ops.of('budget').length >= 1)
    await until(() => ops.of('budget').length === 2)
    expect(ops.of('budget').map((one) => one.subject)).to.have.members([subject('80 %'), subject('all')])
    expect(ops.of('budget')[0]?.facts).to.include({ holder: 'key', share: 0.8, period: 'month', limit: 5, spent: 5.2 })
    const change = { budget: { usd: 6, period: 'month' } }
    expect((await gateway.asAdmin(`PATCH /api/api-keys/${made.body['id'] as string}`, change)).status).to.equal(200)
    await until(() => ops.of('budget').length === 3)
    expect(ops.of('budget')[2]).to.include({ state: 'end', subject: subject('all') })
    expect((await open('budget')).map((one) => one['subject'])).to.deep.equal([subject('80 %')])
  })

  it('say that newer files were refused, and where, without what stands there', async () => {
    const file = join(folder, 'sluice.yaml')
    const { readFile } = await import('node:fs/promises')
    const before = await readFile(file, 'utf8')
    await writeFile(file, before.replace('type: compatible', 'type: incompatible-canary'))
    expect((await gateway.asAdmin('POST /api/config/reload', {})).status).to.equal(422)
    await until(() => states('reload_refused').length === 1)
    const [notice] = ops.of('reload_refused')
    expect(notice?.facts['findings']).to.be.at.least(1)
    expect(JSON.stringify(notice?.facts['places'])).to.match(/sluice\.yaml:\d+:\d+ \[[\w-]+\]/)
    expect(JSON.stringify(notice)).not.to.include('canary')
    await writeFile(file, before)
    expect((await gateway.asAdmin('POST /api/config/reload', {})).status).to.equal(200)
    await until(() => states('reload_refused').length === 2)
    expect(states('reload_refused')).to.deep.equal(['begin', 'end'])
  })

  it('say that a key ends within 14 days', async () => {
    const at = new Date(Date.now() + 13 * 86_400_000).toISOString()
    expect((await gateway.asAdmin('POST /api/api-keys', { name: 'short', expires_at: at })).status).to.equal(201)
    const later = new Date(Date.now() + 15 * 86_400_000).toISOString()
    expect((await gateway.asAdmin('POST /api/api-keys', { name: 'long', expires_at: later })).status).to.equal(201)
    await until(() => states('expires').length === 1)
    expect(ops.of('expires')[0]?.facts).to.deep.include({ kind: 'api_key', name: 'short' })
  })

  it('try again what a target does not take, in order for each cause', async () => {
    const before = ops.received.length
    // The next try is a minute after the third.
    ops.answer(500, 302, 302)
    const made = await gateway.asAdmin('POST /api/api-keys', {
      name: 'soon',
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    })
    await until(() => ops.received.length === before + 1)
    const { id } = ops.received[before]?.body ?? {}
    expect((await gateway.asAdmin(`DELETE /api/api-keys/${made.body['id'] as string}`)).status).to.equal(204)
    await until(() => ops.received.length >= before + 2)
    const [first, second] = ops.received.slice(before)
    expect(second?.headers['webhook-id']).to.equal(first?.headers['webhook-id'])
    expect(second?.body).to.deep.equal(first?.body)
    // The end waits until the begin has arrived, or is given up.
    const sent = (await shown())['sent'] as JsonObject[]
    const ofCause = sent.filter((one) => one['id'] === id)
    expect(ofCause.map((one) => one['state'])).to.include('begin')
    const targets = (await shown())['targets'] as JsonObject[]
    expect(targets.find(({ name }) => name === 'ops')).to.include({ problem: 'it answered with status 302' })
    expect(ops.received.slice(before).map(({ body }) => body.state)).not.to.include('end')
    ops.answer()
  })

  it('are tried by a button, with an answer that says how it went', async () => {
    const before = ops.received.length
    const test = (to: string, asks = gateway.asAdmin) => asks('POST /api/notifications/test', { to })
    expect((await test('ops')).body).to.deep.equal({ delivered: true, status: 204, problem: null })
    const last = ops.received.at(-1)
    expect(ops.received.length).to.be.above(before)
    expect(last?.body).to.include({ cause: 'test', state: 'begin' })
    expect(last && isSigned(last)).to.equal(true)
    slack.answer(403)
    expect((await test('chat')).body).to.deep.equal({
      delivered: false,
      status: 403,
      problem: 'it answered with status 403',
    })
    expect(await test('nobody')).to.include({ status: 422, code: 'invalid_reference', param: 'to' })
    expect((await test('ops', gateway.asViewer)).status).to.equal(403)
    expect((await gateway.asViewer('GET /api/notifications')).status).to.equal(403)
  })

  it('have no prompt, no answer and no secret in any of it', async () => {
    const all = [...ops.received, ...slack.received]
      .map(({ text, headers }) => `${text} ${JSON.stringify(headers)}`)
      .join('\n')
    for (const hidden of [prompt, upstreamKey, secret, gateway.key, 'Hello']) expect(all).not.to.include(hidden)
    const kept = JSON.stringify(await shown())
    for (const hidden of [prompt, upstreamKey, secret, gateway.key]) expect(kept).not.to.include(hidden)
    expect(JSON.stringify((await gateway.asAdmin('GET /api/config/server/notifications')).body)).not.to.include(secret)
    expect(slack.received[0]?.path).to.equal(`/${hook}`)
    const list = JSON.stringify((await gateway.asAdmin('GET /api/config/server')).body)
    const lines = gateway.lines.join('')
    expect(lines).to.include('a target of notifications cannot be reached')
    for (const text of [all, kept, list, lines]) {
      expect(text).not.to.include(secret)
      for (const part of hook.split('/').slice(1)) expect(text).not.to.include(part)
    }
  })
})
