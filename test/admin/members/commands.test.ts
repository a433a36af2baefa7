import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { until } from '../../support/until.ts'

const run = promisify(execFile)
const sluice = join(import.meta.dirname, '..', '..', '..', 'engine', 'bin', 'sluice.cjs')

describe('admin/members: commands', function () {
  this.timeout(600_000)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-member-commands-'))
  const environment = { SLUICE_SECRET: 'a secret of this test' }
  let gateway: AdminGateway
  before(async () => {
    gateway = await startAdmin({ folder, environment })
  })
  after(() => rmSync(folder, { recursive: true }))

  const member = async (...words: string[]) => {
    const command = [sluice, 'member', ...words, '--config', join(folder, 'sluice.yaml')]
    return run(process.execPath, command, { env: { ...process.env, ...environment }, cwd: folder }).then(
      ({ stdout }) => ({ code: 0, out: stdout.trim(), error: '' }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        out: stdout.trim(),
        error: stderr,
      }),
    )
  }

  it('make members who can sign in at a gateway that runs', async () => {
    const { out } = await member('create', '--username', 'Clara', '--role', 'admin', '--json')
    const made = JSON.parse(out) as { readonly id: string; readonly temporary_password: string }
    expect(Object.keys(made)).to.deep.equal(['id', 'username', 'role', 'temporary_password'])
    expect(made).to.include({ username: 'clara', role: 'admin' })
    const login = { username: 'clara', password: made.temporary_password }
    await until(async () => (await gateway.asNobody('POST /api/auth/login', login)).status === 200)
    const { body } = await gateway.asAdmin(`GET /api/logs/audit?target=clara&action=member.create`)
    const [row] = body['data'] as readonly JsonObject[]
    expect(row).to.deep.include({ actor: { type: 'cli', id: null, name: null }, address: null, request_id: null })
  })

  it('set a new password, which ends the sessions', async () => {
    const { token } = (
      await gateway.asNobody('POST /api/auth/login', { username: 'viewer', password: 'a long sentence of ours' })
    ).body
    expect(token).to.be.a('string')
    const { code, out } = await member('reset-password', '--username', 'VIEWER')
    expect([code, out.length]).to.deep.equal([0, 24])
    await until(async () => (await gateway.asViewer('GET /api/me')).status === 401)
    const { body } = await gateway.asNobody('POST /api/auth/login', { username: 'viewer', password: out })
    expect(body['user']).to.include({ must_change_password: true })
  })

  it('list members, also without a gateway, and say what is wrong', async () => {
    await gateway.close()
    const [listed, table, taken, wrong, nobody] = await Promise.all([
      member('list', '--json'),
      member('list'),
      member('create', '--username', 'clara'),
      member('create', '--username', '-'),
      member('reset-password', '--username', 'nobody'),
    ])
    const json = JSON.parse(listed.out) as readonly JsonObject[]
    expect(json.map(({ username }) => username)).to.deep.equal(['admin', 'clara', 'viewer'])
    expect(json[0]).to.include.all.keys('id', 'role', 'budget', 'keys', 'version')
    expect(table.out).to.match(/username +role +state[^]*clara +admin +in use/)
    expect([taken.code, taken.error]).to.deep.equal([1, 'sluice: There is a member "clara" already.\n'])
    expect(wrong.code).to.equal(2)
    expect([nobody.code, nobody.error]).to.deep.equal([1, 'sluice: There is no member "nobody".\n'])
    expect((await member('create', '--username', 'dora')).out).to.have.length(24)
  })
})
