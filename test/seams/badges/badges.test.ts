import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { startServe } from '../../engine/cli/process.ts'
import { configuration, sandbox } from '../../engine/cli/sandbox.ts'
import type { Sandbox } from '../../engine/cli/sandbox.ts'
import { connect } from '../../engine/http/socket-client.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'

const plugin = join(import.meta.dirname, 'plugin.ts')
const pipelines = join(import.meta.dirname, 'pipelines.yaml')
const guests = '[{ name: ann, code: print-of-ann }, { name: bob, code: print-of-bob }]'

describe('records that a service of an outsider holds', function () {
  this.timeout(60_000)

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
      await here.write('pipelines/make.yaml', `name: make\nsummary: Make.\nroutes: [POST /make]\nstages: ${stages}\n`)
      expect((await here.run('check')).out[0]).to.match(/^pipelines\/make\.yaml:4:\d+: no record named "badge"/)
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
        const said = process.out.map((line) => Object.keys(JSON.parse(line) as object).join())
        expect(said.toSorted()).to.deep.equal(['guests', 'key', 'url'])
        expect(said.at(-1)).to.equal('url')
      } finally {
        await process.remove()
      }
    })
  })
})
