import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { viewOf } from '../support/admin.ts'
import { until } from '../support/until.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

const payload = '<img src=x onerror="document.title=1">'

describe('console/audit', () => {
  let rig: SignedInRig
  let folder: string
  const make = (fields: JsonObject) => rig.gateway.asAdmin('POST /api/mcp/servers', { transport: 'http', ...fields })
  const patch = (name: string, fields: JsonObject) => rig.gateway.asAdmin(`PATCH /api/mcp/servers/${name}`, fields)

  before(async function () {
    folder = await mkdtemp(join(tmpdir(), 'sluice-audit-'))
    rig = await startConsole(this, { folder })
    await make({ name: 'docs', url: 'https://198.41.0.4/mcp', headers: { authorization: 'Bearer of-the-docs-1234' } })
    await patch('docs', {
      description: payload,
      url: 'https://198.41.0.4/v2',
      headers: { authorization: 'Bearer other' },
    })
    await rig.gateway.asViewer('POST /api/mcp/servers', { name: 'x', transport: 'http', url: 'https://198.41.0.4/' })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(async () => {
    await rig?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('lists the changes, and a row opens what it changed, without secrets', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.signedIn('admin', '/', { theme })
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Audit' }).click()
      await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor()
      const row = page.getByRole('table', { name: 'Changes' }).getByRole('row', { name: 'mcp_server.update' })
      await row.getByText('admin').waitFor()
      await row.getByText('mcp_server docs').waitFor()
      expect(await axe(page)).to.deep.equal([])

      await row.getByRole('link').click()
      const opened = page.getByRole('region', { name: /^Row \d+$/ })
      await opened.getByText('https://198.41.0.4/mcp').waitFor()
      await opened.getByText('https://198.41.0.4/v2').waitFor()
      expect(await opened.getByText('[secret]').count()).to.equal(2)
      await opened.getByText(payload).waitFor()
      expect(await page.content()).not.to.contain('of-the-docs')
      expect(await axe(page)).to.deep.equal([])

      // The address is the evidence: it shows the same to others.
      const { pathname, search } = new URL(page.url())
      const other = await rig.signedIn('admin', pathname + search, { theme })
      await other
        .getByRole('region', { name: /^Row \d+$/ })
        .getByText('https://198.41.0.4/v2')
        .waitFor()
      await other.keyboard.press('Escape')
      await opened.waitFor()
      await other.getByRole('region', { name: /^Row \d+$/ }).waitFor({ state: 'detached' })
      expect(new URL(other.url()).search).to.equal('')
    }
  })

  it('filters by the address, in words of the API', async () => {
    const page = await rig.signedIn('admin', '/audit')
    const table = page.getByRole('table', { name: 'Changes' })
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByLabel('Field').selectOption('Outcome')
    await page.getByLabel('Value').selectOption('refused')
    const asked = page.waitForRequest((request) => request.url().includes('/api/logs/audit?outcome=refused'))
    await page.getByRole('button', { name: 'Apply' }).click()
    await asked
    expect(new URL(page.url()).search).to.equal('?outcome=refused')
    await table.getByRole('row', { name: 'access.refused' }).waitFor()
    await table.getByRole('row', { name: 'mcp_server.update' }).waitFor({ state: 'detached' })
    await table.getByRole('link').first().click()
    await page.getByText('It was refused, so nothing changed.').waitFor()

    await page.goto('/audit?action=provider.create')
    await page.getByText('No change fits these filters.').waitFor()
    await page.getByRole('button', { name: 'Clear all' }).click()
    await table.getByRole('row', { name: 'mcp_server.update' }).waitFor()

    await page.goto('/audit?since=yesterday&outcome=maybe')
    await table.getByRole('row', { name: 'mcp_server.update' }).waitFor()
    await page.getByText('The address has a value for "since" that is not known here. It is ignored.').waitFor()
    await page.waitForURL(/\/audit$/)
  })

  it('filters by the value of a cell, from its menu', async () => {
    const page = await rig.signedIn('admin', '/audit')
    const row = page.getByRole('table', { name: 'Changes' }).getByRole('row', { name: 'mcp_server.update' })
    for (const [cell, filter, search] of [
      ['admin', 'Who is admin', `?actor=${rig.gateway.admin.id}`],
      ['mcp_server docs', 'What is docs', '?target=docs'],
      ['done', 'Outcome is done', '?outcome=ok'],
    ] as const) {
      await row.getByRole('cell', { name: cell, exact: true }).click({ button: 'right' })
      await page.getByRole('menuitem', { name: `Filter for: ${filter}` }).click()
      await page.getByRole('button', { name: `Remove filter: ${filter}` }).waitFor()
      expect(new URL(page.url()).search).to.equal(search)
      await page.getByRole('button', { name: 'Clear all' }).click()
      await page.waitForURL(/\/audit$/)
    }
  })

  it('opens a row that is not in the list, and says when there is none', async () => {
    const page = await rig.signedIn('admin', '/audit?action=provider.create&row=1')
    await page.getByRole('region', { name: 'Row 1' }).getByText('auth.setup').waitFor()
    await page.goto('/audit?row=4321')
    await page.getByText('There is no row 4,321.').waitFor()
  })

  it('says when nothing proves the end of the trail, also in the strip', async () => {
    const page = await rig.signedIn('admin', '/audit')
    const file = join(folder, 'audit.checkpoints')
    await rename(file, `${file}.away`)
    try {
      await page.getByRole('button', { name: 'Verify' }).click()
      await page
        .getByRole('status')
        .getByText('which fit, but no checkpoint proves that none is missing behind the last one')
        .waitFor()
      await page.evaluate(() => localStorage.removeItem('sluice-audit-verified'))
      await page.reload()
      await page.getByText('End of the audit trail not proven').waitFor()
      expect(await axe(page)).to.deep.equal([])
    } finally {
      await rename(`${file}.away`, file)
    }
  })

  it('says whether the trail is whole, and leads to its first bad row', async () => {
    const page = await rig.signedIn('admin', '/audit')
    const { data } = (await rig.gateway.asAdmin('GET /api/logs/audit?limit=1')).body as unknown as {
      readonly data: readonly { readonly sequence: number; readonly hash: string }[]
    }
    const [{ sequence, hash } = { sequence: 0, hash: '' }] = data
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText(`${sequence} rows, whole, head ${hash.slice(0, 4)}…`).waitFor()
    expect(await axe(page)).to.deep.equal([])

    const { database } = rig.gateway.engine
    const rowOf = async () => (await database.rows<{ body: string }>('select body from audit where sequence = 2'))[0]
    const before = (await rowOf())?.body ?? ''
    await database.rows(`update audit set body = replace(body, 'mcp_server', 'mcp_serve') where sequence = 2`)
    expect((await rowOf())?.body).not.to.equal(before)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByRole('status').getByText('not whole: row 2, its content does not fit its hash').waitFor()
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('link', { name: 'row 2', exact: true }).click()
    await page.getByRole('region', { name: 'Row 2' }).waitFor()
  })

  it('compares the trail with checkpoints that were kept elsewhere', async () => {
    const page = await rig.signedIn('admin', '/audit')
    const lines = (await readFile(join(folder, 'audit.checkpoints'), 'utf8')).trim().split('\n')
    const [first = '', ...others] = lines
    await page.getByRole('button', { name: 'Compare checkpoints' }).click()
    const dialog = page.getByRole('dialog', { name: 'Compare checkpoints' })
    const field = dialog.getByRole('textbox', { name: 'Checkpoints' })
    await field.fill('nothing of it')
    await dialog.getByText('There is no checkpoint in it.').waitFor()
    await field.fill(`${first}\n${first.slice(0, -5)}`)
    await dialog.getByText('Line 2 is no whole checkpoint.').waitFor()
    expect(await axe(page)).to.deep.equal([])

    // A line of the process log holds a checkpoint; one whose signature is another is forged.
    const forged = { ...(JSON.parse(others[0] ?? '') as object), mac: '0'.repeat(64) }
    await field.fill(`{"level":30,"checkpoint":${first}}\n{"level":30,"msg":"ready"}\n${JSON.stringify(forged)}`)
    await dialog.getByRole('button', { name: 'Compare 2 checkpoints' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page
      .getByRole('status')
      .getByText(`1 of ${lines.length + 2} checkpoints do not fit`)
      .waitFor()
  })

  it('keeps what is shown when the list fails, and asks again', async () => {
    const page = await rig.signedIn('admin')
    let fails = true
    await page.route('**/api/logs/audit?*', (route) =>
      fails
        ? route.fulfill({
            status: 500,
            json: { error: { message: 'Something broke.', type: 'api_error', param: null, code: 'internal_error' } },
          })
        : route.continue(),
    )
    await page.goto('/audit')
    await page.getByRole('alert').getByText('Something broke.').waitFor()
    expect(await axe(page)).to.deep.equal([])
    fails = false
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('table', { name: 'Changes' }).waitFor()
    expect(rig.complaints().every((line) => line.includes('500'))).to.equal(true)
  })

  it('says why it is empty', async () => {
    const page = await rig.signedIn('admin')
    await page.route('**/api/logs/audit?*', (route) => route.fulfill({ json: { data: [], next_cursor: null } }))
    await page.goto('/audit')
    await page.getByText('Nothing was changed yet.').waitFor()
    expect(await axe(page)).to.deep.equal([])
  })

  it('is not shown to viewers', async () => {
    const page = await rig.signedIn('viewer', '/audit')
    await page.getByText('Only admins see the audit trail.').waitFor()
    expect(await axe(page)).to.deep.equal([])
    expect(await page.getByRole('link', { name: 'Audit' }).count()).to.equal(0)
  })

  it('loads further rows by the cursor, and holds only those in view', async () => {
    const trail = viewOf(rig.gateway.engine, 'audit')
    await Promise.all(Array.from({ length: 140 }, () => trail.record({ action: 'logs.cleanup' })))
    const page = await rig.signedIn('admin', '/audit')
    const table = page.getByRole('table', { name: 'Changes' })
    await table.getByRole('row').nth(100).waitFor()
    const toTheEnd = () =>
      page.getByRole('group', { name: 'Changes' }).evaluate((region) => region.scrollTo(0, region.scrollHeight))
    await toTheEnd()
    await page.locator('table[aria-rowcount="-1"]').waitFor()
    await until(async () => (await table.getByRole('row').count()) < 80)
    await toTheEnd()
    await table.getByRole('row', { name: 'auth.setup' }).waitFor()
    expect(await axe(page)).to.deep.equal([])
  })
})
