import { expect } from 'chai'
import { configuration, sandbox } from '../../engine/cli/sandbox.ts'
import { startAdmin, askAt } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'

describe('plugins/members: sluice token create', () => {
  let gateway: AdminGateway
  let run: (username: string, ...words: string[]) => Promise<{ status: number; out: readonly string[]; error: string }>
  let remove: () => Promise<void>
  before(async () => {
    gateway = await startAdmin()
    const here = await sandbox({
      'config/sluice.yaml': `${configuration}database: { url: '${gateway.engine.database.url}' }\n`,
    })
    run = async (username, ...words) => {
      const { status, out, error } = await here.run('token', 'create', '--username', username, ...words)
      return { status, out, error: error.join('\n') }
    }
    remove = () => here.remove()
  })
  after(async () => {
    await gateway.close()
    await remove()
  })

  it('prints a token that a running gateway accepts', async () => {
    const { status, out, error } = await run('Admin')
    expect([status, out.length]).to.deep.equal([0, 1])
    expect(error).to.match(/^It expires at \d{4}-\d\d-\d\dT[\d:.]{12}Z, unless it is renewed/)
    const renewed = await askAt(gateway.url, out[0])('POST /api/auth/renew')
    expect([renewed.status, renewed.body['user']]).to.deep.equal([
      200,
      { id: gateway.admin.id, username: 'admin', role: 'admin', must_change_password: false },
    ])
    const rows = await gateway.engine.database.rows<{ body: string }>(
      "select body from audit where action = 'token.create'",
    )
    expect(rows.map(({ body }) => JSON.parse(body) as object)).to.have.nested.property(
      '[0].target.id',
      gateway.admin.id,
    )
    expect(rows[0]?.body).not.to.include(out[0])
  })

  it('prints JSON', async () => {
    const { out } = await run('viewer', '--json')
    const printed = JSON.parse(out[0] ?? '') as Record<string, unknown>
    expect(Object.keys(printed)).to.deep.equal(['token', 'expires_at', 'username', 'role'])
    expect(printed).to.include({ username: 'viewer', role: 'viewer' })
  })

  it('makes no token that would be refused', async () => {
    await gateway.addMember({ username: 'gone', disabled: 1 })
    await gateway.addMember({ username: 'fresh', must_change_password: 1 })
    for (const [username, problem] of [
      ['nobody', 'there is no member "nobody"'],
      ['gone', 'the member "gone" is disabled'],
      ['fresh', 'the member "fresh" must change the password first'],
    ] as const)
      expect(await run(username)).to.deep.equal({ status: 1, out: [], error: `sluice: ${problem}` })
  })
})
