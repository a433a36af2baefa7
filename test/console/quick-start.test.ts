import { expect } from 'chai'
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

describe('the quick start', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    upstream.answer(scriptedModel('chat'))
    gateway = await startGateway({
      providers: [{ name: 'vendor', type: 'compatible', base_url: `${upstream.url}/v1`, api_key: 'upstream-key' }],
      models: [{ name: 'scripted', provider: 'vendor' }],
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
