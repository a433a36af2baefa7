import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { password } from '../support/admin.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { until } from '../support/until.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'
import { pictured } from './support/pictured.ts'

const payload = '<img src=x onerror=alert(1)>'

describe('console/providers', () => {
  let rig: SignedInRig
  let upstream: ScriptedUpstream
  before(async function () {
    upstream = await scriptedUpstream()
    rig = await startConsole(this, {
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'vendor', type: 'compatible', base_url: upstream.url, api_key: 'sk-abcdefghijklmnopqrstuvwxyz' },
      ],
      models: [{ name: 'echo', provider: 'echo' }],
    })
  })
  // A browser tells of every refusal, too, and refusals are part of these tests.
  afterEach(() =>
    expect(rig.complaints().filter((one) => !/status of (401|403|412|422|500)/.test(one))).to.deep.equal([]),
  )
  after(async () => {
    await rig?.close()
    await upstream.close()
  })

  const choose = async (page: Page, name: string) => {
    await page.getByRole('combobox', { name: 'Type' }).fill(name)
    await page.getByRole('option', { name, exact: true }).click()
  }

  it('are listed with their state, their key’s end and the models that use them', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.signedIn('admin', '/', { theme })
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Providers' }).click()
      await page.getByRole('heading', { level: 1, name: 'Providers' }).waitFor()
      const row = page.getByRole('table', { name: 'Providers' }).getByRole('row', { name: /vendor/ })
      expect(await row.innerText())
        .to.include('in file')
        .and.include('ends in wxyz')
        .and.include(upstream.url)
      expect(await axe(page)).to.deep.equal([])
      await row.getByRole('link').click()
      await page.getByRole('heading', { level: 1, name: 'vendor' }).waitFor()
      await page.getByText(/^Declared in sluice\.yaml:\d+\. Change it there/).waitFor()
      expect(await page.getByRole('button', { name: 'Save' }).count()).to.equal(0)
      await page.getByText('Set, ends in wxyz').waitFor()
      expect(await axe(page)).to.deep.equal([])
    }
  })

  it('are filtered and searched in the address', async () => {
    const page = await rig.signedIn('admin', '/providers')
    const rows = page.getByRole('table', { name: 'Providers' }).getByRole('row')
    const names = async () => (await rows.getByRole('link').allInnerTexts()).map((text) => text.split(/\s/)[0])
    await rows.getByRole('cell', { name: 'compatible' }).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Filter for: Type is compatible' }).click()
    await page.getByRole('button', { name: 'Remove filter: Type is compatible' }).waitFor()
    await until(async () => (await rows.count()) === 2)
    expect(await names()).to.deep.equal(['vendor'])
    await page.goto('/providers?sort=-name')
    await rows.nth(2).waitFor()
    expect(await names()).to.deep.equal(['vendor', 'echo'])
    await page.getByRole('searchbox', { name: 'Search providers' }).fill('nobody')
    await page.getByText('No provider fits these filters.').waitFor()
    expect(new URL(page.url()).searchParams.get('search')).to.equal('nobody')
    expect(await axe(page)).to.deep.equal([])
  })

  it('are added, tested before they are saved, and get models from their own list', async () => {
    const page = await rig.signedIn('admin', '/providers')
    await page.getByRole('button', { name: 'Add provider' }).click()
    await page.getByRole('heading', { name: 'Add provider' }).waitFor()
    await choose(page, 'compatible')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('mine')
    await page.getByRole('textbox', { name: 'Base URL', exact: true }).fill(`${upstream.url}/v1`)
    await page.getByRole('textbox', { name: 'API key', exact: true }).fill('sk-of-the-provider')

    // An address of this machine needs a word of its own.
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').first().waitFor()
    await page.getByRole('switch', { name: 'Allow private addresses' }).click()
    upstream.answer({ status: 401, body: { error: { message: `bad ${payload}` } } })
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('It does not work (401)').waitFor()
    upstream.answer({ body: { data: [{ id: 'big' }, { id: payload }] } })
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText(/^It answers: its list of models, /).waitFor()
    expect(upstream.requests.at(-1)?.headers.authorization).to.equal('Bearer sk-of-the-provider')
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Save' }).click()

    await page.getByRole('heading', { level: 1, name: 'mine' }).waitFor()
    await page.getByRole('tab', { name: 'Models' }).click()
    await page.getByRole('checkbox', { name: payload }).waitFor()
    await page.getByRole('checkbox', { name: 'big' }).check()
    await page.getByRole('button', { name: 'Add 1 model' }).click()
    await page.getByText('1 model was added.').waitFor()
    await page.getByText('is here as big').waitFor()
    expect(await axe(page)).to.deep.equal([])
    const { body } = await rig.gateway.asAdmin('GET /api/config/models/big')
    expect(body).to.include({ provider: 'mine', upstream_model: 'big' })
  })

  it('are changed, with what is wrong at its field, and never show a secret', async () => {
    const config = { base_url: `${upstream.url}/v1`, api_key: 'sk-abcdefghijklmnop-1234' }
    await rig.gateway.asAdmin('POST /api/config/providers', {
      name: 'changing',
      type: 'native',
      config,
      allow_private: true,
    })
    const page = await rig.signedIn('admin', '/providers/changing')
    await page.getByText('Set, ends in 1234').waitFor()
    expect(await page.content()).to.not.include(config.api_key)
    const address = page.getByRole('textbox', { name: 'Base URL', exact: true })
    await address.fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('Needed.').waitFor()
    expect(await address.getAttribute('aria-invalid')).to.equal('true')
    await address.fill('nowhere')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('alert')
      .getByText(/base_url/)
      .waitFor()
    expect(await axe(page)).to.deep.equal([])
    await address.fill(`${upstream.url}/v2`)
    await page.getByRole('button', { name: 'Replace' }).first().click()
    await page.getByRole('textbox', { name: 'API key', exact: true }).fill('sk-another-one-5678')
    await page.keyboard.press('Control+s')
    await page.getByText('Set, ends in 5678').waitFor()
    const { body } = await rig.gateway.asAdmin('GET /api/config/providers/changing')
    expect(body['config']).to.include({ base_url: `${upstream.url}/v2` })
  })

  it('ask for their secrets again when their address changes', async () => {
    await rig.gateway.asAdmin('POST /api/config/providers', {
      name: 'moving',
      type: 'native',
      config: { base_url: `${upstream.url}/v1`, api_key: 'sk-abcdefghijklmnop-1234', headers: { 'x-team': 'a team' } },
      allow_private: true,
    })
    const page = await rig.signedIn('admin', '/providers/moving')
    await page.getByText('Set, ends in 1234').waitFor()
    const moved = `${upstream.url.replace('127.0.0.1', 'localhost')}/v1`
    await page.getByRole('textbox', { name: 'Base URL', exact: true }).fill(moved)
    await page.getByRole('button', { name: 'Save' }).click()
    const key = page.getByRole('textbox', { name: 'API key', exact: true })
    await key.waitFor()
    const team = page.getByRole('textbox', { name: 'x-team', exact: true })
    for (const field of [key, team]) expect(await field.getAttribute('aria-invalid')).to.equal('true')
    expect(await page.getByText(/to another place: enter it again/).count()).to.be.greaterThan(1)
    expect(await axe(page)).to.deep.equal([])
    await key.fill('sk-another-one-5678')
    await team.fill('another team')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Set, ends in 5678').waitFor()
    const { body } = await rig.gateway.asAdmin('GET /api/config/providers/moving')
    expect(body['config']).to.include({ base_url: moved })
  })

  it('are chosen by the card of a preset, which fills in the address', async () => {
    const page = await rig.signedIn('admin', '/providers?add=1', { width: 1920 })
    const cards = page.getByRole('group', { name: 'Common providers' })
    const card = cards.getByRole('button', { name: 'openrouter openrouter.ai' })
    await card.click()
    await cards.getByRole('button', { name: /^openrouter/, pressed: true }).waitFor()
    expect(await page.getByRole('combobox', { name: 'Type' }).inputValue()).to.equal('openrouter')
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).to.equal('openrouter')
    const address = page.getByRole('textbox', { name: 'Base URL', exact: true })
    expect(await address.getAttribute('placeholder')).to.equal('https://openrouter.ai/api/v1')
    // Fields stay readable on a wide screen.
    expect((await address.boundingBox())?.width).to.be.lessThan(800)
    expect((await cards.boundingBox())?.width).to.be.lessThan(800)
    expect(await axe(page)).to.deep.equal([])
    await choose(page, 'compatible')
    expect(await cards.getByRole('button', { pressed: true }).count()).to.equal(0)
    await pictured(page, 'add-provider')
  })

  it('show their secrets to an admin who repeats the password, and to nobody else', async () => {
    const secret = 'sk-to-be-revealed-0123'
    await rig.gateway.asAdmin('POST /api/config/providers', {
      name: 'secretive',
      type: 'compatible',
      config: { base_url: 'https://198.41.0.4/v1', api_key: secret, headers: { 'x-team': payload } },
    })
    const page = await rig.signedIn('admin', '/providers/secretive')
    await page.getByRole('button', { name: 'Reveal secrets' }).click()
    const asks = page.getByRole('dialog', { name: 'Reveal secrets' })
    await asks.locator('input[type=password]:focus').waitFor()
    expect(await axe(page)).to.deep.equal([])
    await page.keyboard.type('wrong')
    await asks.getByRole('button', { name: 'Reveal', exact: true }).click()
    await asks.getByRole('alert').waitFor()
    await asks.getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
    const shown = page.getByRole('dialog', { name: 'Secrets of secretive' })
    expect(await shown.getByRole('textbox', { name: 'API key' }).inputValue()).to.equal(secret)
    expect(await shown.getByRole('textbox', { name: 'x-team' }).inputValue()).to.equal(payload)
    expect(await axe(page)).to.deep.equal([])
    await shown.getByRole('button', { name: 'Copy API key' }).click()
    await shown.getByText('Copied').first().waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(secret)
    await shown.getByRole('button', { name: 'Close' }).last().click()
    await shown.waitFor({ state: 'detached' })
    expect(await page.content()).not.to.include(secret)

    await rig.gateway.asAdmin('PATCH /api/config/server/security', { reveal_keys: false })
    await page.getByRole('button', { name: 'Reveal secrets' }).click()
    await asks.getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
    await asks.getByRole('alert').getByText('reveal_off').waitFor()
    await rig.gateway.asAdmin('PATCH /api/config/server/security', { reveal_keys: true })
  })

  it('show what somebody else changed meanwhile, and whose values are to hold', async () => {
    const config = { base_url: `${upstream.url}/v1`, api_key: 'k' }
    const at = '/api/config/providers/contested'
    await rig.gateway.asAdmin('POST /api/config/providers', {
      name: 'contested',
      type: 'native',
      config,
      allow_private: true,
    })
    const page = await rig.signedIn('admin', '/providers/contested')
    await page.getByRole('textbox', { name: 'Base URL', exact: true }).fill(`${upstream.url}/mine`)
    await rig.gateway.asAdmin(`PATCH ${at}`, { config: { base_url: `${upstream.url}/theirs`, max_connections: 7 } })
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: /^Changed by admin .* ago$/ })
    await dialog
      .getByRole('row', { name: `Base URL ${upstream.url}/theirs ${upstream.url}/mine`, exact: true })
      .waitFor()
    await dialog.getByRole('row', { name: 'Max connections 7 not touched', exact: true }).waitFor()
    await pictured(page, 'conflict')
    expect(await axe(page)).to.deep.equal([])
    await dialog.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByRole('button', { name: 'Discard changes' }).waitFor({ state: 'detached' })
    const { body } = await rig.gateway.asAdmin(`GET ${at}`)
    expect(body['config']).to.include({ base_url: `${upstream.url}/mine`, max_connections: 7 })
  })

  it('ask before changes are lost, are switched off with an undo, and go when their name is typed', async () => {
    await rig.gateway.asAdmin('POST /api/config/providers', { name: 'leaving', type: 'echo', config: {} })
    await rig.gateway.asAdmin('POST /api/config/models', { name: 'with-it', provider: 'leaving', upstream_model: 'm' })
    const page = await rig.signedIn('admin', '/providers/leaving')
    await page.getByRole('textbox', { name: 'Delay' }).fill('5s')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Overview' }).click()
    const leaving = page.getByRole('dialog', { name: 'Leave without saving?' })
    await leaving.getByRole('button', { name: 'Stay' }).click()
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('Disabled leaving.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Disable' }).waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('1 model uses it and goes, too.').waitFor()
    await page.getByRole('textbox', { name: 'Type leaving to confirm' }).fill('leaving')
    await page.getByRole('button', { name: 'Delete leaving' }).click()
    await page.getByRole('heading', { level: 1, name: 'Providers' }).waitFor()
    expect((await rig.gateway.asAdmin('GET /api/config/providers/leaving')).status).to.equal(404)
    expect((await rig.gateway.asAdmin('GET /api/config/models/with-it')).status).to.equal(404)
  })

  it('are not shown to viewers, and say what failed', async () => {
    const viewer = await rig.signedIn('viewer', '/providers')
    await viewer.getByText('Only admins see providers.').waitFor()
    const page = await rig.signedIn('admin', '/audit-not-there')
    await page.route('**/api/config/providers?**', (route) =>
      route.fulfill({ status: 500, json: { error: { message: 'It broke.', code: 'internal_error', param: null } } }),
    )
    await page.goto('/providers')
    await page.getByRole('alert').getByText('It broke.').waitFor()
    await page.unroute('**/api/config/providers?**')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('table', { name: 'Providers' }).waitFor()
  })
})
