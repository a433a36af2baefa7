import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { startFolder } from '../../support/folder.ts'
import type { FolderGateway } from '../../support/folder.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'

const here = import.meta.dirname
const roles = { ann: 'admin', vic: 'viewer' }

describe('seams/access', () => {
  let gateway: FolderGateway
  beforeEach(async () => {
    gateway = await startFolder(
      {
        plugins: [join(here, 'plugin.ts')],
        providers: [{ name: 'echo', type: 'echo' }],
        models: [{ name: 'echo', provider: 'echo' }],
        server_config: { acme_members: { roles } },
      },
      { 'pipelines/acme-access.yaml': await readFile(join(here, 'pipelines', 'acme-access.yaml'), 'utf8') },
    )
  })
  afterEach(() => gateway.close())

  const ask = async (path: string, token?: string, method = 'GET') => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(`${gateway.url}/acme/${path}`, { method, headers })
    const body = (await response.json()) as { name?: string; kind?: string; error?: { code: string } }
    return {
      status: response.status,
      who: body.name ?? body.error?.code,
      scheme: response.headers.get('www-authenticate'),
    }
  }
  const told = async (path: string, token?: string) => {
    const { status, who } = await ask(path, token)
    return `${status} ${who}`
  }

  it('lets in who has signed in, by what an outsider says of sessions', async () => {
    expect(await told('me', 'ann@acme')).to.equal('200 ann')
    expect(await told('me', 'vic@acme')).to.equal('200 vic')
    for (const token of ['eve@acme', 'ann@elsewhere', 'ann', gateway.key, '', undefined])
      expect(await ask('me', token)).to.deep.equal({ status: 401, who: 'invalid_token', scheme: 'Bearer' })
    expect(await told('me', 'new@acme')).to.equal('403 password_change_required')
    const shown = await fetch(`${gateway.url}/acme/me?token=ann@acme`, { headers: { cookie: 'token=ann@acme' } })
    expect(shown.status).to.equal(401)
  })

  it('asks for a role', async () => {
    expect(await told('admin', 'ann@acme')).to.equal('200 ann')
    expect(await told('admin', 'vic@acme')).to.equal('403 forbidden')
    expect(await told('admin', 'eve@acme')).to.equal('401 invalid_token')
    expect(await told('viewer', 'ann@acme')).to.equal('200 ann')
    expect(await told('viewer', 'vic@acme')).to.equal('200 vic')
  })

  it('takes either of them, and lets no key have a role', async () => {
    expect(await told('either', gateway.key)).to.equal('200 test')
    expect(await told('either', 'vic@acme')).to.equal('200 vic')
    expect(await told('either', 'eve@acme')).to.equal('401 invalid_token')
    expect(await told('either/admin', gateway.key)).to.equal('403 forbidden')
    expect(await told('either/admin', 'ann@acme')).to.equal('200 ann')
    expect(await told('key', gateway.key)).to.equal('200 test')
    expect(await told('key', 'ann@acme')).to.equal('401 invalid_api_key')
  })

  it('follows the settings, and remembers over a reload who was signed out', async () => {
    expect((await ask('sign-out', 'ann@acme', 'POST')).status).to.equal(200)
    expect(await told('me', 'ann@acme')).to.equal('401 invalid_token')
    const { version } = (await gateway.ready()).body.config
    await gateway.configure({ server_config: { acme_members: { roles: { ...roles, vic: 'admin', eve: 'viewer' } } } })
    await until(async () => (await gateway.ready()).body.config.version !== version)
    expect(await told('admin', 'vic@acme')).to.equal('200 vic')
    expect(await told('me', 'eve@acme')).to.equal('200 eve')
    expect(await told('me', 'ann@acme')).to.equal('401 invalid_token')
  })

  it('writes no member into the column of the keys', async () => {
    await ask('me', 'vic@acme')
    await gateway.engine.flush()
    const rows = await tablesOf(gateway.engine.database).selectFrom('requests').selectAll().execute()
    expect(rows.map(({ type, status, key_id: key }) => ({ type, status, key }))).to.deep.equal([
      { type: 'me', status: 200, key: null },
    ])
  })

  it('closes the socket of who was signed out', async () => {
    const headers = { authorization: 'Bearer vic@acme' }
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/acme/me`, { headers })
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await new Promise((resolve) => socket.once('open', resolve))
    await ask('sign-out', 'vic@acme', 'POST')
    socket.send('{}')
    expect(await closed).to.equal(4401)
  })
})
