import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { converseReply, wrongSignature } from '../../support/converse.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { RecordedRequest, ScriptedUpstream } from '../../support/upstream.ts'

const at = '/api/config/providers'
const credentials = {
  access_key_id: 'AKIAEXAMPLE',
  secret_access_key: 'nobody-may-read+this/in-clear',
  session_token: 'nor-this-token-of-a-session',
}

describe('admin/providers, with several secrets', function () {
  this.timeout(300_000)
  let gateway: AdminGateway
  let upstream: ScriptedUpstream
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startAdmin({ providers: [{ name: 'echo', type: 'echo' }], models: [] })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  it('ask for each of them in a field that is not shown', async () => {
    const { body } = await gateway.asAdmin(`GET ${at}/types`)
    const types = body['data'] as readonly { readonly type: string; readonly schema: { properties: JsonObject } }[]
    const hidden = (type: string) =>
      Object.entries(types.find((one) => one.type === type)?.schema.properties ?? {}).flatMap(([name, field]) =>
        (field as JsonObject)['writeOnly'] === true ? [name] : [],
      )
    expect(hidden('bedrock')).to.have.members(['api_key', 'secret_access_key', 'session_token'])
    expect(hidden('azure')).to.include('api_key')
  })

  it('are tested with a signed call, and neither answers, logs nor the database show a secret', async () => {
    const config = { region: 'eu-west-1', base_url: upstream.url, ...credentials }
    const made = await gateway.asAdmin(`POST ${at}`, { name: 'aws', type: 'bedrock', config, allow_private: true })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    expect(made.body['config']).to.include({ region: 'eu-west-1', access_key_id: 'AKIAEXAMPLE' })
    expect(made.body['secrets']).to.have.all.keys('config.secret_access_key', 'config.session_token')
    const model = { name: 'm', provider: 'aws', upstream_model: 'anthropic.claude-haiku-4-5-20251001-v1:0' }
    await gateway.asAdmin('POST /api/config/models', model)

    upstream.answer(converseReply([{ text: 'Hi' }]))
    const good = await gateway.asAdmin(`POST ${at}/aws/test`, { model: 'm' })
    expect(good.body).to.include({ ok: true, status: 200, checked: 'generate' })
    const { secret_access_key: secret, session_token: token } = credentials
    expect(wrongSignature(upstream.requests.at(-1) as RecordedRequest, secret)).to.equal(undefined)

    upstream.answer({ status: 403, body: { message: `the signature with ${secret} and ${token} is wrong` } })
    const bad = await gateway.asAdmin(`POST ${at}/aws/test`, { model: 'm' })
    expect(bad.body).to.include({ ok: false, status: 403 })

    const shown = await gateway.asAdmin(`GET ${at}/aws`)
    const rows = await gateway.engine.database.rows<JsonObject>('select * from records')
    for (const text of [made.body, good.body, bad.body, shown.body, rows, gateway.lines])
      for (const hidden of [secret, token]) expect(JSON.stringify(text)).to.not.include(hidden)
  })
})
