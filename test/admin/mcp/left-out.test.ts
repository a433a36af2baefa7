import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { askAt, startAdmin } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'

const at = '/api/mcp/servers'

describe('admin/mcp/servers, of which a process leaves some out', function () {
  this.timeout(300_000)
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-left-out-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('are shown with all their fields and defaults, also where only the name can be read', async () => {
    const first = await startAdmin({ folder, records: { mcp: { allow_stdio: ['node'] } } })
    const { body: whole } = await first.asAdmin(`POST ${at}`, { name: 's', transport: 'stdio', command: 'node' })
    const shownAs = async (value: string) => {
      await first.engine.database.query.updateTable('records').set({ value }).where('name', '=', 's').execute()
      const second = await startGateway({ folder })
      try {
        return (await askAt(second.url, first.admin.token)(`GET ${at}/s`)).body
      } finally {
        await second.close()
      }
    }
    try {
      const partly = await shownAs(JSON.stringify({ name: 's', transport: 'stdio' }))
      expect(partly).to.have.all.keys(Object.keys(whole))
      expect(partly['problem']).to.match(/needs the field "command"/)
      expect(partly).to.deep.include({ transport: 'stdio', command: null, arguments: [], enabled: true, restarts: 10 })
      expect(partly['tools']).to.deep.equal({ allow: null, deny: [] })
      const unread = await shownAs('7')
      expect(unread).to.have.all.keys(Object.keys(whole))
      expect(unread['problem']).to.match(/is not a JSON object/)
      expect(unread).to.deep.include({ name: 's', transport: null, url: null, enabled: true })
    } finally {
      await first.close()
    }
  })
})
