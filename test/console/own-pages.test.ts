import { expect } from 'chai'
import { password } from '../support/admin.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

describe('console/configuration', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this)
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  it('says which version runs, on what, and reads the files again', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.signedIn('admin', '/', { theme })
      await page.getByRole('link', { name: /^Configuration [0-9a-f]{8}$/ }).click()
      await page.getByRole('heading', { level: 1, name: 'Configuration' }).waitFor()
      await page.getByText('The files were read without a finding.').waitFor()
      await page.getByRole('region', { name: 'System' }).getByText(process.versions.node).waitFor()
      await page.getByRole('table', { name: 'Processes' }).getByText('this version').waitFor()
      expect(await axe(page)).to.deep.equal([])
      await page.getByRole('button', { name: 'Reload configuration' }).click()
      await page.getByRole('status').getByText('The configuration was reloaded.').waitFor()
    }
  })

  it('is told of to viewers, and not shown', async () => {
    const page = await rig.signedIn('viewer', '/configuration')
    await page.getByText('Only admins see the configuration.').waitFor()
    expect(await axe(page)).to.deep.equal([])
  })

  it('shows above every page what strangers may use', async () => {
    const page = await rig.signedIn('admin', '/configuration')
    const finding = { file: 'sluice.yaml', line: 3, column: 7, code: 'open-door', message: 'trusts everybody' }
    await page.route('**/api/config/status', async (route) => {
      const answer = (await (await route.fetch()).json()) as object
      await route.fulfill({ json: { ...answer, risks: [finding] } })
    })
    await page.reload()
    const strip = page.getByRole('region', { name: 'Attention' })
    await strip.getByText('Open to strangers').waitFor()
    await strip.getByText('trusts everybody').waitFor()
  })

  it('shows where a refused configuration is wrong, here and above every page', async () => {
    const page = await rig.signedIn('admin', '/configuration')
    const finding = { file: 'sluice.yaml', line: 3, column: 7, code: 'unknown-field', message: 'unknown field "modls"' }
    await page.route('**/api/config/status', async (route) => {
      const answer = (await (await route.fetch()).json()) as object
      await route.fulfill({ json: { ...answer, error: { at: new Date().toISOString(), findings: [finding] } } })
    })
    await page.route('**/api/notifications', async (route) => {
      const answer = (await (await route.fetch()).json()) as object
      const facts = { findings: 1, places: ['sluice.yaml:3:7 [unknown-field]'] }
      const cause = { id: null, cause: 'reload_refused', subject: 'sluice.yaml:3:7', facts, since: null, said_at: null }
      await route.fulfill({ json: { ...answer, open: [{ ...cause, path: '/configuration' }] } })
    })
    await page.reload()
    await page.getByRole('alert').getByText('sluice.yaml:3:7').waitFor()
    const strip = page.getByRole('region', { name: 'Attention' })
    await strip.getByText('Configuration refused').waitFor()
    await strip.getByText('unknown field "modls"').waitFor()
    expect(await axe(page)).to.deep.equal([])
  })
})

describe('console/quick-start', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this, {
      providers: [{ name: 'echo', type: 'echo' }],
      models: [
        { name: 'first', provider: 'echo', auto_eligible: true },
        { name: 'second', provider: 'echo' },
      ],
    })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  it('asks for a model that is served, or for one that is chosen, in the text of every client', async () => {
    const page = await rig.signedIn('viewer', '/quick-start')
    const texts = page.getByRole('main')
    await texts.getByText('"model":"first"').waitFor()
    await page.getByRole('combobox', { name: 'Model' }).click()
    await page.getByRole('option', { name: 'second' }).click()
    await texts.getByText('"model":"second"').waitFor()
    await page.getByRole('navigation', { name: 'Client' }).getByRole('link', { name: 'OpenAI (Python)' }).click()
    await texts.locator('pre').filter({ hasText: 'second' }).waitFor()
    expect(new URL(page.url()).search).to.equal('?model=second&client=openai-python')
    expect(await axe(page)).to.deep.equal([])
    await rig.gateway.asAdmin('PATCH /api/config/server/smart_routing', { enabled: true })
    await page.goto('/quick-start')
    await texts.getByText('"model":"auto"').waitFor()
    await rig.gateway.asAdmin('PATCH /api/config/server/smart_routing', { enabled: false })
  })

  it('takes from a link no words that are not the name of a model', async () => {
    const page = await rig.signedIn('viewer', `/quick-start?client=claude-code&model=${encodeURIComponent('$(told)')}`)
    const texts = page.getByRole('main')
    await page.getByText('The address has a value for "model" that is not known here.').waitFor()
    await texts.locator('pre').filter({ hasText: "export ANTHROPIC_MODEL='first'" }).waitFor()
    expect(await texts.innerText()).to.not.include('told')
    expect(new URL(page.url()).search).to.equal('?client=claude-code')
  })

  it('asks for no model that nobody serves now', async () => {
    await rig.gateway.asAdmin('POST /api/config/providers', { name: 'off', type: 'echo', enabled: false })
    await rig.gateway.asAdmin('POST /api/config/models', { name: 'early', provider: 'off', auto_eligible: true })
    await rig.gateway.asAdmin('PATCH /api/config/server/smart_routing', { enabled: true })
    const page = await rig.signedIn('viewer')
    await page.route('**/api/catalog/models', async (route) => {
      const { data } = (await (await route.fetch()).json()) as { data: { name: string; virtual: boolean }[] }
      await route.fulfill({ json: { data: data.map((one) => (one.virtual ? { ...one, available: false } : one)) } })
    })
    await page.goto('/quick-start')
    await page.getByRole('main').getByText('"model":"first"').waitFor()
    await page.getByRole('combobox', { name: 'Model' }).click()
    expect(await page.getByRole('option').allInnerTexts()).to.deep.equal(['first', 'second'])
  })
})

describe('console/account', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this)
  })
  after(() => rig?.close())

  it('is everybody’s own: password, preferences, sessions', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.signedIn('viewer', '/account', { theme })
      await page.getByText('You have no budget of your own.').waitFor()
      await page.getByRole('switch', { name: 'Keys of one letter' }).waitFor()
      expect(await axe(page)).to.deep.equal([])
    }
    const page = await rig.signedIn('viewer')
    await page.getByRole('button', { name: 'Account viewer' }).click()
    await page.getByRole('menuitem', { name: 'Account' }).click()
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()

    const answered = page.waitForResponse('**/api/me/tracing')
    await page.getByRole('switch', { name: 'Note how my requests were routed' }).click()
    expect((await answered).status()).to.equal(200)
    expect((await rig.gateway.asViewer('GET /api/me/tracing')).body).to.deep.equal({ enabled: true })

    await page.getByRole('switch', { name: 'Keys of one letter' }).click()
    await page.getByRole('heading', { level: 1 }).focus()
    await page.keyboard.press('?')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search' }).waitFor()
    expect(await page.getByRole('dialog').count()).to.equal(1)
    await page.keyboard.press('Escape')

    await page.getByLabel('Current password').fill(password)
    await page.getByLabel('New password', { exact: true }).fill(`${password}!`)
    await page.getByLabel('Repeat password').fill(`${password}!`)
    await page.getByRole('button', { name: 'Save password' }).click()
    await page.getByRole('status').getByText('Your password was changed.').waitFor()
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    // The token of the fixture ended with the password.
    expect((await rig.gateway.asViewer('GET /api/me')).status).to.equal(401)
    expect(rig.complaints()).to.deep.equal([])
  })
})
