import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { password } from '../support/admin.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

const pricing = { input: 1000, output: 2000 }

describe('console/members', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this, {
      providers: [{ name: 'echo', type: 'echo' }],
      models: [{ name: 'sable', provider: 'echo', pricing }],
    })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  const signIn = (username: string, given: string) =>
    rig.gateway.asNobody('POST /api/auth/login', { username, password: given })
  const record = async (id: string) => (await rig.gateway.asAdmin(`GET /api/team/members/${id}`)).body
  const idOf = (page: Page) => page.url().split('/').pop() ?? ''
  const expectedFailures = (status: number) => {
    expect(rig.complaints().filter((line) => !line.includes(`status of ${status}`))).to.deep.equal([])
  }

  it('adds a member with a password that is shown once and has to be changed', async () => {
    const page = await rig.signedIn('admin', '/members')
    await page.getByRole('table', { name: 'Members' }).getByRole('link', { name: 'viewer' }).waitFor()
    await page.getByRole('button', { name: 'Add member' }).click()
    await page.getByRole('heading', { level: 1, name: 'Add member' }).waitFor()
    await page.getByRole('textbox', { name: 'Username' }).fill('viewer')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('There is a member "viewer" already.').first().waitFor()
    expectedFailures(409)

    await page.getByRole('textbox', { name: 'Username' }).fill('M.Klein')
    await page.getByRole('radiogroup', { name: 'Role' }).getByRole('radio', { name: 'admin' }).click()
    await page.getByLabel('Your password').fill(password)
    await page.getByRole('button', { name: 'Set Budget' }).click()
    await page.getByRole('textbox', { name: 'Amount' }).fill('50')
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'New password' })
    const temporary = await dialog.getByRole('textbox', { name: 'Temporary password' }).inputValue()
    expect(await axe(page)).to.deep.equal([])
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'I have kept it' }).click()

    await page.getByRole('heading', { level: 1, name: 'm.klein' }).waitFor()
    await page.getByText('needs a new password').waitFor()
    expect(await page.content()).to.not.include(temporary)
    expect(await record(idOf(page))).to.deep.include({ role: 'admin', models: null })
    expect((await record(idOf(page)))['budget']).to.include({ usd: 50, period: 'month' })
    const { status, body } = await signIn('m.klein', temporary)
    expect([status, (body['user'] as { must_change_password: boolean }).must_change_password]).to.deep.equal([
      200,
      true,
    ])
  })

  it('lists members with their budgets, and looks right in both themes', async () => {
    const { gateway } = rig
    const budget = JSON.stringify({ usd: 0.002, period: 'month' })
    const owner = await gateway.addMember({ username: 'spender', budget })
    const made = await gateway.asAdmin('POST /api/api-keys', { name: 'his', owner: owner.id })
    const headers = { authorization: `Bearer ${made.body['key'] as string}` }
    const body = { model: 'sable', messages: [{ role: 'user', content: 'hi' }] }
    expect((await gateway.post('/v1/chat/completions', body, headers)).status).to.equal(200)
    await gateway.rows(1)
    await gateway.addMember({ username: 'gone', disabled: 1 })
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.signedIn('admin', '/members', { theme })
      const table = page.getByRole('table', { name: 'Members' })
      const row = table.getByRole('row').filter({ has: page.getByRole('link', { name: 'spender' }) })
      await row.getByText('$0.003 of $0.002 a month').waitFor()
      await table.getByRole('row', { name: /^gone/ }).getByText('disabled').waitFor()
      expect(await axe(page)).to.deep.equal([])
      await row.getByRole('link', { name: 'spender' }).click()
      await page.getByRole('link', { name: '1 key', exact: true }).waitFor()
      await page.getByRole('region', { name: 'Budgets that bind him' }).getByText('$0.00 left').waitFor()
      expect(await axe(page)).to.deep.equal([])
      await page.getByRole('tab', { name: 'Usage' }).click()
      await page.getByRole('table', { name: 'Usage' }).getByRole('cell', { name: 'sable' }).waitFor()
    }
    const page = await rig.signedIn('admin', `/members/${owner.id}`)
    await page.getByRole('button', { name: 'Reset budget' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset budget' }).click()
    await page.getByText('$0.00 of $0.002 a month').waitFor()
    await page.getByRole('link', { name: '1 key', exact: true }).click()
    await page.getByRole('table', { name: 'API keys' }).getByRole('link', { name: 'his' }).waitFor()
  })

  it('filters and searches in the address', async () => {
    const page = await rig.signedIn('admin', '/members?disabled=true')
    const links = page.getByRole('table', { name: 'Members' }).getByRole('link')
    await links.getByText('gone').waitFor()
    expect(await links.allInnerTexts()).to.deep.equal(['gone'])
    await page.getByRole('button', { name: 'Clear all' }).click()
    await page.getByRole('searchbox', { name: 'Search members' }).fill('zzz')
    await page.getByText('No member fits these filters.').waitFor()
    expect(await axe(page)).to.deep.equal([])
  })

  it('changes rights, and shows at the field what the gateway refuses', async () => {
    const { id, ask } = await rig.gateway.addMember({ username: 'rising' })
    const page = await rig.signedIn('admin', `/members/${id}`)
    await page.getByRole('radiogroup', { name: 'Role' }).getByRole('radio', { name: 'admin' }).click()
    await page.getByLabel('Your password').fill('not the password')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('The password is wrong.').first().waitFor()
    expectedFailures(401)
    await page.getByLabel('Your password').fill(password)
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('status').getByText('Saved.').waitFor()
    expect(await page.getByLabel('Your password').count()).to.equal(0)
    expect((await record(id))['role']).to.equal('admin')
    // Another role ends the sessions.
    expect((await ask('GET /api/me')).status).to.equal(401)
    await page.getByRole('textbox', { name: 'Username' }).fill('no spaces please')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('alert')
      .getByText(/must be 1 to 64/)
      .first()
      .waitFor()
    expect(await page.getByRole('textbox', { name: 'Username' }).getAttribute('aria-invalid')).to.equal('true')
    expectedFailures(422)
  })

  it('keeps a member out and lets him in again, and gives another password', async () => {
    const { id, username, ask } = await rig.gateway.addMember({ username: 'leaving' })
    const page = await rig.signedIn('admin', `/members/${id}`)
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Disable' }).click()
    expect(await axe(page)).to.deep.equal([])
    await dialog.getByRole('button', { name: 'Disable leaving' }).click()
    await page.getByRole('status').getByText('Disabled leaving.').waitFor()
    expect((await ask('GET /api/me')).status).to.equal(401)
    expect((await signIn(username, password)).status).to.equal(401)
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Disable' }).waitFor()
    expect((await signIn(username, password)).status).to.equal(200)

    await page.getByRole('button', { name: 'Reset password' }).click()
    await dialog.getByRole('radio', { name: 'Choose one' }).click()
    await dialog.getByLabel('Password', { exact: true }).fill('short')
    await dialog.getByRole('button', { name: 'Reset password' }).click()
    await dialog.getByRole('alert').waitFor()
    expectedFailures(422)
    await dialog.getByLabel('Password', { exact: true }).fill('another long sentence')
    await dialog.getByRole('button', { name: 'Reset password' }).click()
    await page.getByRole('status').getByText('leaving has a new password.').waitFor()
    expect((await signIn(username, 'another long sentence')).status).to.equal(200)

    await page.getByRole('button', { name: 'Reset password' }).click()
    await dialog.getByRole('button', { name: 'Reset password' }).click()
    const made = await page.getByRole('textbox', { name: 'Temporary password' }).inputValue()
    await page.getByRole('button', { name: 'I have kept it' }).click()
    expect((await signIn(username, made)).status).to.equal(200)
  })

  it('deletes by typing, and says what becomes of the keys', async () => {
    const { id } = await rig.gateway.addMember({ username: 'former' })
    const key = await rig.gateway.asAdmin('POST /api/api-keys', { name: 'orphan', owner: id })
    const page = await rig.signedIn('admin', `/members/${id}`)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete former?' })
    await dialog.getByText('1 key is disabled and has no owner any more.').waitFor()
    await dialog.getByRole('textbox', { name: 'Type former to confirm' }).fill('former')
    await dialog.getByRole('button', { name: 'Delete former' }).click()
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor()
    await page.getByRole('status').getByText('Deleted former.').waitFor()
    const { body } = await rig.gateway.asAdmin(`GET /api/api-keys/${key.body['id'] as string}`)
    expect([body['owner'], body['state']]).to.deep.equal([null, 'disabled'])
  })

  it('are found in the palette, and so is the form that adds one', async () => {
    await rig.gateway.addMember({ username: 'findable' })
    const page = await rig.signedIn('admin', '/members')
    await page.getByRole('table', { name: 'Members' }).waitFor()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('dialog', { name: 'Search' }).getByRole('combobox')
    await field.fill('findable')
    await page.getByRole('option', { name: /findable/ }).click()
    await page.getByRole('heading', { level: 1, name: 'findable' }).waitFor()
    await page.keyboard.press('Control+k')
    await field.fill('Add member')
    await page.getByRole('option', { name: /Add member/ }).click()
    await page.getByRole('heading', { level: 1, name: 'Add member' }).waitFor()
  })

  it('does not remove the last admin, and says so where it was tried', async () => {
    const { gateway } = rig
    const others = (await gateway.asAdmin('GET /api/team/members?role=admin')).body['data'] as { id: string }[]
    for (const { id } of others.filter((one) => one.id !== gateway.admin.id))
      await gateway.asAdmin(`DELETE /api/team/members/${id}`)
    const page = await rig.signedIn('admin', `/members/${gateway.admin.id}`)
    await page.getByText('This is you.').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Type admin to confirm' }).fill('admin')
    await dialog.getByRole('button', { name: 'Delete admin' }).click()
    await dialog.getByRole('alert').getByText('This is the last admin who can sign in.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('radiogroup', { name: 'Role' }).getByRole('radio', { name: 'viewer' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('alert')
      .getByText(/Nobody may change role|last admin/)
      .first()
      .waitFor()
    expect((await record(gateway.admin.id))['role']).to.equal('admin')
    expect(rig.complaints().filter((line) => !/status of (403|409)/.test(line))).to.deep.equal([])
  })

  it('is not for viewers, who are told so', async () => {
    for (const path of ['/members', '/members/new', `/members/${rig.gateway.admin.id}`]) {
      const page = await rig.signedIn('viewer', path)
      await page.getByText('Only admins see members.').waitFor()
      expect(await page.getByRole('link', { name: 'Members', exact: true }).count()).to.equal(0)
      expect(await axe(page)).to.deep.equal([])
    }
  })

  it('says why members could not be shown, and tries again', async () => {
    const page = await rig.signedIn('admin', '/no/such/place')
    const broken = { status: 500, json: { error: { message: 'It broke.', code: 'internal_error', param: null } } }
    await page.route('**/api/team/members?**', (route) => route.fulfill(broken))
    await page.getByRole('link', { name: 'Members', exact: true }).click()
    await page.getByRole('alert').getByText('It broke.').waitFor()
    await page.unroute('**/api/team/members?**')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('table', { name: 'Members' }).waitFor()
    await page.goto('/members/01a20713-0000-7000-8000-000000000000')
    await page.getByRole('alert').getByText('There is no member').waitFor()
    expect(rig.complaints().filter((line) => !/status of (500|404)/.test(line))).to.deep.equal([])
  })
})
