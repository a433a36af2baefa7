import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { startServe } from '../../engine/cli/process.ts'
import { configuration, sandbox } from '../../engine/cli/sandbox.ts'
import type { Sandbox } from '../../engine/cli/sandbox.ts'
import { connect } from '../../engine/http/socket-client.ts'
import { GatewayError } from '../../../engine/index.ts'
import { askAt, viewOf } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import { recordStages } from '../../support/record-stages.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { keysOf } from '../../support/keys.ts'

const plugin = join(import.meta.dirname, 'plugin.ts')
const pipelines = join(import.meta.dirname, 'pipelines.yaml')
const guests = '[{ name: ann, code: print-of-ann }, { name: bob, code: print-of-bob }]'

describe('records that a service of an outsider holds', function () {
  this.timeout(300_000)

  describe('in a gateway', () => {
    let gateway: RunningGateway
    let here: Sandbox
    before(async () => {
      here = await sandbox()
      await cp(pipelines, join(here.folder, 'pipelines/badges.yaml'))
      gateway = await startGateway({
        plugins: [plugin],
        pipelines: join(here.folder, 'pipelines'),
        records: {
          badges: [
            { name: 'ann', code: 'print-of-ann' },
            { name: 'bob', code: 'print-of-bob' },
          ],
        },
        // No look but the one that is asked for.
        limits: { sockets: { recheck: 3_600_000 } },
      })
    })
    after(async () => {
      await gateway.close()
      await here.remove()
    })

    const made = async (value: unknown) => {
      const headers = { 'x-badge': 'print-of-bob', 'content-type': 'application/json' }
      const answer = await fetch(`${gateway.url}/make`, { method: 'POST', headers, body: JSON.stringify(value) })
      return { status: answer.status, body: (await answer.json()) as { error: object; errors?: object[] } }
    }
    const entries = async () => {
      const rows = await gateway.engine.database.rows<{ entry: string }>('select entry from ledger')
      return rows.map(({ entry }) => JSON.parse(entry) as object)
    }

    const audited = async (...actions: readonly string[]) => {
      const page = { isDescending: false, limit: 100 }
      const rows = await viewOf(gateway.engine, 'audit').find({ wanted: { actions } }, page)
      return rows.map(({ body }) => JSON.parse(body) as object)
    }

    it('are checked like declared ones and together with those, when they are made', async () => {
      const wrong = await made({ name: 'carol', code: 'x', colour: 'red' })
      expect(wrong.status).to.equal(422)
      expect(wrong.body.errors?.map((one) => Object.values(one).slice(0, 2))).to.deep.equal([
        ['code', 'invalid_field'],
        ['colour', 'unknown_field'],
      ])
      expect((await made({ name: 'ann', code: 'another' })).body.error).to.include({ code: 'name_taken' })
      const twin = await made({ name: 'carol', code: 'print-of-ann' })
      expect(twin.status).to.equal(409)
      expect(JSON.stringify(twin.body)).to.include('the guest badge').and.not.include('print-of-ann')
      expect(await entries()).to.deep.equal([])
    })

    it('take no other configuration, and are witnessed without their secrets', async () => {
      const { version } = gateway.engine.live.current
      expect(await made({ name: 'carol', code: 'print-of-carol' })).to.deep.equal({
        status: 201,
        body: { name: 'carol' },
      })
      expect(gateway.engine.live.current.version).to.equal(version)
      const client = await connect(gateway, '/door', { headers: { 'x-badge': 'print-of-carol' } })
      client.send('{}')
      expect(await client.nextJson()).to.deep.equal({ hello: 'carol' })
      client.socket.close()
      const secrets = { code: { set: true, hint: null } }
      const after = { type: 'badge', name: 'carol', value: { name: 'carol' }, secrets, source: 'database' }
      expect(await entries()).to.deep.equal([{ kind: 'create', type: 'badge', name: 'carol', after, by: 'bob' }])
    })

    it('are in the audit trail, without their secrets', async () => {
      const [row, ...others] = await audited('badge.create')
      expect(others).to.deep.equal([])
      expect(row).to.deep.include({ actor: { type: 'anonymous', id: 'bob', name: 'bob' }, outcome: 'ok' })
      expect(row).to.deep.include({
        target: { type: 'badge', id: 'carol', name: 'carol' },
        changes: { name: { from: null, to: 'carol' }, code: { from: null, to: '[secret]' } },
      })
    })

    it('fail a test where their service makes one without a row', async () => {
      const ask = askAt(gateway.url, undefined, gateway.engine)
      const headers = { 'x-badge': 'print-of-bob' }
      expect((await ask('POST /make', { name: 'eve', code: 'print-of-eve' }, headers)).status).to.equal(201)
      const forged = ask('POST /forge', { name: 'frank', code: 'print-of-frank' }, headers)
      expect(await forged.catch(String)).to.equal(
        'Error: forge-badge has written a badge, and the audit trail has no row of it',
      )
    })

    it('are not made where a witness objects', async () => {
      expect((await made({ name: 'mallory', code: 'print-of-mallory' })).status).to.equal(500)
      const rows = await gateway.engine.database.rows<{ name: string }>('select name from badges')
      expect(rows.map(({ name }) => name)).to.have.members(['carol', 'eve', 'frank'])
      expect(await entries()).to.have.length(2)
      expect(await audited('badge.create')).to.have.length(2)
    })

    it('are witnessed where the gateway itself holds them: API keys', async () => {
      const keys = keysOf(gateway.engine)
      const { id, text } = await keys.create({ name: 'app', models: ['echo'] })
      await keys.revoke({ id, name: 'app' })
      const refusal: unknown = await keys.create({ name: 'mallory' }).catch((error: unknown) => error)
      expect(String(refusal)).to.include('nobody may know of this')
      expect((await keys.stored()).map(({ name }) => name)).to.deep.equal(['app'])
      const [, , created, revoked, ...others] = await entries()
      expect(created).to.deep.include({ kind: 'create', type: 'api_key', name: 'app' })
      expect(created).to.have.deep.nested.property('after.value', { name: 'app', models: ['echo'] })
      expect(revoked).to.deep.include({ kind: 'delete', type: 'api_key', name: 'app' })
      expect(others).to.deep.equal([])
      expect(JSON.stringify([created, revoked])).to.not.include(text)
      // Their service appends them itself.
      expect(await audited('api_key.create', 'api_key.delete')).to.have.length(2)
    })

    it('are refused by API keys where none of that name could be declared', async () => {
      const refusal: unknown = await keysOf(gateway.engine)
        .create({ name: 'two words' })
        .catch((error: unknown) => error)
      expect(refusal).to.be.instanceOf(GatewayError).with.property('message').that.includes('must have no spaces')
    })

    it('close the sockets of whoever was shut out, at once and nobody else', async () => {
      const enter = (name: string) => connect(gateway, '/door', { headers: { 'x-badge': `print-of-${name}` } })
      const [ann, bob] = [await enter('ann'), await enter('bob')]
      const left = await fetch(`${gateway.url}/leave`, { method: 'POST', headers: { 'x-badge': 'print-of-ann' } })
      expect(await left.json()).to.deep.equal({ gone: 'ann' })
      expect((await ann.closed).code).to.equal(4401)
      bob.send('{}')
      expect(await bob.nextJson()).to.deep.equal({ hello: 'bob' })
      bob.socket.close()
    })
  })

  describe('on the command line', () => {
    let here: Sandbox
    const write = (badges: string, more = '') =>
      here.write(
        'config/sluice.yaml',
        `${configuration}listen: { port: 0${more} }\ndatabase: { url: 'sqlite:${here.folder}/sluice.db' }\nbadges: ${badges}\n`,
      )
    beforeEach(async () => {
      here = await sandbox({
        ...recordStages,
        'plugins/badges.ts': await readFile(plugin, 'utf8'),
        'pipelines/badges.yaml': await readFile(pipelines, 'utf8'),
      })
    })
    afterEach(() => here.remove())

    it('are checked like any others', async () => {
      await write('[{ name: ann, code: same }, { name: bob, code: same }, { name: ann, code: other }]')
      expect((await here.run('check')).out.filter((line) => line.includes('['))).to.deep.equal([
        'config/sluice.yaml:6:56: the guest badge "ann" has the same print [duplicate]',
        'config/sluice.yaml:6:72: the name "ann" is already taken by the guest badge number 1 [duplicate]',
      ])
      await write('[{ name: ann, code: "${UNSET}" }]')
      const { status, out } = await here.run('check')
      expect([status, out.filter((line) => line.includes('off'))]).to.deep.equal([
        0,
        ['guest badge "ann" is off: UNSET is not set'],
      ])
    })

    it('are none that the stages for records could keep', async () => {
      await write(guests)
      const stages = '[{ badge-enter: {} }, { create-record: { of: badge } }]'
      await here.write('pipelines/keep.yaml', `name: keep\nsummary: Keep.\nroutes: [POST /keep]\nstages: ${stages}\n`)
      expect((await here.run('check')).out[0]).to.match(
        /^pipelines\/keep\.yaml:4:\d+: a service holds the records of type "badge": stages for records cannot use them/,
      )
    })

    it('refuse a configuration at their place', async () => {
      await write('[{ name: nobody, code: none }]')
      const process = startServe(here.folder)
      try {
        expect(await process.ended).to.equal(1)
        expect(process.error.join('\n')).to.include('config/sluice.yaml:6:18: nobody is no guest [no-guest]')
      } finally {
        await process.remove()
      }
    })

    for (const workers of [1, 2])
      it(`are told of by whoever starts the gateway, once, with workers: ${workers}`, async () => {
        await write(guests, `, workers: ${workers}`)
        const process = startServe(here.folder)
        try {
          await process.until(() => process.out.some((line) => line.includes('The door is')))
          const said = process.out.join('\n')
          const order = ['Guests: ann, bob.', 'Sluice serves on http', 'The door is at http', ', behind it 1 model.']
          const places = order.map((text) => said.indexOf(text))
          expect(places).to.not.include(-1)
          expect(places).to.deep.equal(places.toSorted((left, right) => left - right))
          expect(said.split('Guests').length).to.equal(2)
        } finally {
          await process.remove()
        }
      })

    it('are told of in JSON, without what has none', async () => {
      await write(guests)
      const process = startServe(here.folder, {}, '--json')
      try {
        await process.until(() => process.out.some((line) => line.includes('"url"')))
        const all = process.out.map((line) => Object.keys(JSON.parse(line) as object).join())
        // The link to set up the first admin comes when the members are open.
        const said = all.filter((words) => words !== 'setup_url')
        expect(said.toSorted()).to.deep.equal(['guests', 'key', 'url'])
        expect(said.at(-1)).to.equal('url')
      } finally {
        await process.remove()
      }
    })
  })
})
