import { assert, expect } from 'chai'
import { join } from 'node:path'
import { clients, keyVariable } from '../../console/src/quick-start/index.ts'
import { runPasted } from '../clients/pasted.ts'
import { greeting, scriptedModel } from '../clients/model.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

/** The clients that this machine has anyway; `npm run clients -- --quick-start` runs the others, too. */
const here = ['curl', 'openai-typescript', 'anthropic-typescript']

/** Ends every kind of quotes, runs a command, and has what escapes and no file may hold. */
const hostile = `a'b"c$(told)\`told\`\\d\\'\u0001\u007f;é`

describe('the quick start', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    upstream.answer(scriptedModel('chat'))
    gateway = await startGateway({
      providers: [{ name: 'vendor', type: 'compatible', base_url: `${upstream.url}/v1`, api_key: 'upstream-key' }],
      models: [
        { name: 'scripted', provider: 'vendor' },
        { name: hostile, provider: 'vendor' },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  for (const client of clients.filter(({ id }) => here.includes(id)))
    it(`has a text for ${client.title} that works as it is pasted`, async () => {
      const packages = join(import.meta.dirname, '..', '..', 'node_modules')
      const ran = await runPasted(client, gateway, 'scripted', { packages })
      expect(ran, ran.errors).to.include({ code: 0 })
      expect(ran.output).to.include(greeting)
    })

  for (const client of clients.filter(({ id }) => here.includes(id)))
    it(`asks by ${client.title} for a model whose name means something to a shell and to code`, async () => {
      const packages = join(import.meta.dirname, '..', '..', 'node_modules')
      const before = upstream.requests.length
      const ran = await runPasted(client, gateway, hostile, { packages })
      expect(ran, ran.errors).to.include({ code: 0 })
      expect(ran.output).to.include(greeting)
      const asked = upstream.requests.slice(before).map(({ body }) => JSON.parse(String(body)) as { model: string })
      expect(asked.map(({ model }) => model)).to.deep.equal([hostile])
    })

  it('sets a shell’s variables to the model and the address, whatever they hold', async () => {
    const client = clients.find(({ id }) => id === 'claude-code')
    assert(client)
    const print = `node -p 'JSON.stringify([process.env.ANTHROPIC_BASE_URL, process.env.ANTHROPIC_MODEL])'`
    const url = 'http://$(told).example'
    const ran = await runPasted(client, { url, key: 'key' }, hostile, {}, print)
    expect(JSON.parse(ran.output)).to.deep.equal([url, hostile])
  })

  it('holds a model as one string in Python and in TOML, whatever its name', async () => {
    const place = { origin: 'https://gateway.example', model: hostile }
    const texts = clients.flatMap(({ pastes }) => pastes)
    for (const language of ['python', 'toml']) {
      const held = texts.filter((paste) => paste.language === language).map((paste) => paste.text(place))
      const naming = held.filter((text) => text.includes('model'))
      expect(naming).to.have.lengthOf.above(0)
      for (const text of naming) {
        // Both share the escapes of JSON, and hold no control character as it is.
        const [, string = ''] = /model ?= ?("(?:[^"\\]|\\.)*")/.exec(text) ?? []
        expect(string).to.not.match(/\p{Cc}/u)
        expect(JSON.parse(string)).to.equal(hostile)
      }
    }
  })

  it('never holds a key: each text takes it from the environment', () => {
    const place = { origin: 'https://gateway.example', model: 'auto' }
    for (const { id, pastes } of clients) {
      const text = pastes.map((paste) => paste.text(place)).join('\n')
      expect(text, id).to.include(keyVariable)
      expect(text, id).to.include(place.origin)
    }
  })

  it('names each client once', () => {
    expect(new Set(clients.map(({ id }) => id)).size).to.equal(clients.length)
  })
})
