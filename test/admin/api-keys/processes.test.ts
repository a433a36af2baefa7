import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { connect } from '../../engine/http/socket-client.ts'
import { askAt, startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminGateway, Ask } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { postgres } from '../../support/services.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { until } from '../../support/until.ts'

const path = '/api/api-keys'

const settings = {
  models: [
    { name: 'small', provider: 'echo' },
    { name: 'large', provider: 'echo' },
  ],
  // Sessions of one gateway are known to the other.
  environment: { SLUICE_SECRET: 'a secret of thirty-two characters' },
}

/** A created key: its record and its text. */
interface Made extends JsonObject {
  readonly id: string
  readonly key: string
}

function contract(open: () => Promise<string>): void {
  let here: AdminGateway
  let there: RunningGateway
  let asAdminThere: Ask
  before(async function () {
    this.timeout(300_000)
    const database = await open()
    here = await startAdmin({ ...settings, database })
    there = await startGateway({ ...settings, database, limits: { sockets: { recheck: 3_600_000 } } })
    asAdminThere = askAt(there.url, here.admin.token)
  })
  after(async () => {
    await there.close()
    await here.close()
  })

  let made = 0
  const create = async (fields: JsonObject = {}): Promise<Made> => {
    made += 1
    const { status, body } = await here.asAdmin(`POST ${path}`, { name: `key-${made}`, ...fields })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body as Made
  }
  /** What the other gateway lists for a key; undefined: it refuses the key. */
  const modelsThere = async (key: string) => {
    const response = await fetch(`${there.url}/v1/models`, { headers: { 'x-api-key': key } })
    const { data } = (await response.json()) as { data?: { id: string }[] }
    return data?.map(({ id }) => id)
  }
  const untilModels = (key: string, models: readonly string[] | undefined) =>
    until(async () => JSON.stringify(await modelsThere(key)) === JSON.stringify(models))

  it('takes a key at its first request, and shows it at once', async () => {
    const { id, key } = await create()
    expect((await asAdminThere(`GET ${path}/${id}`)).body).to.include({ id, version: 1 })
    expect(await modelsThere(key)).to.deep.equal(['small', 'large'])
    const changed = await here.asAdmin(`PATCH ${path}/${id}`, { tags: { team: 'red' } })
    expect((await asAdminThere(`GET ${path}/${id}`)).body['tags']).to.deep.equal(changed.body['tags'])
  })

  sideBySide('refuses a key that was deleted here, and closes its sockets', async () => {
    const { id, key } = await create()
    expect(await modelsThere(key)).to.deep.equal(['small', 'large'])
    const socket = await connect(there, '/v1/responses', { headers: { authorization: `Bearer ${key}` } })
    expect((await here.asAdmin(`DELETE ${path}/${id}`)).status).to.equal(204)
    expect((await asAdminThere(`DELETE ${path}/${id}`)).status, 'a repeated delete').to.equal(404)
    await untilModels(key, undefined)
    expect(await socket.closed).to.include({ code: 4401 })
  })

  sideBySide('follows changes and rotations', async () => {
    const { id, key } = await create()
    await untilModels(key, ['small', 'large'])
    await here.asAdmin(`PATCH ${path}/${id}`, { models: ['small'] })
    await untilModels(key, ['small'])
    const { body } = await here.asAdmin(`POST ${path}/${id}/rotate`)
    await untilModels(key, undefined)
    await untilModels((body as Made).key, ['small'])
  })

  sideBySide('follows the members who own keys', async () => {
    const member = await here.addMember()
    const { key } = await create({ owner: member.id, models: ['small'] })
    await untilModels(key, ['small'])
    const update = (columns: { disabled?: number; models?: string }) =>
      viewOf(here.engine, 'members').store.change(async (transaction) => {
        await transaction.updateTable('members').set(columns).where('id', '=', member.id).execute()
      })
    await update({ models: '["large"]' })
    await untilModels(key, [])
    await update({ models: '["small"]', disabled: 1 })
    await untilModels(key, undefined)
    await update({ disabled: 0 })
    await untilModels(key, ['small'])
  })

  it('loses no change of two gateways at a time', async function () {
    this.timeout(60_000)
    const { id } = await create()
    const tags = Array.from({ length: 12 }, (_, index) => `t${index}`)
    const answers = await Promise.all(
      tags.map((tag, index) =>
        (index % 2 === 0 ? here.asAdmin : asAdminThere)(`PATCH ${path}/${id}`, { tags: { [tag]: '' } }),
      ),
    )
    expect(answers.map(({ status }) => status)).to.deep.equal(tags.map(() => 200))
    const { body } = await here.asAdmin(`GET ${path}/${id}`)
    expect(body['tags']).to.have.all.keys(...tags)
    expect(body['version']).to.equal(13)
  })

  it('makes one key of a name, whoever is asked', async function () {
    this.timeout(60_000)
    const asks = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? here.asAdmin : asAdminThere))
    const answers = await Promise.all(asks.map((ask) => ask(`POST ${path}`, { name: 'race' })))
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1)
    expect(answers.filter(({ code }) => code === 'name_taken')).to.have.length(19)
  })
}

describe('API keys of several gateways', () => {
  describe('on SQLite', () => {
    let folder = ''
    after(() => rm(folder, { recursive: true }))
    contract(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-keys-'))
      return `sqlite:${folder}/sluice.db`
    })
  })

  describe('on PostgreSQL', () => {
    let url = ''
    before(async function () {
      url = (await postgres(this)).url
    })
    contract(() => Promise.resolve(url))
  })
})
