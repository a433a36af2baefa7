import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { password } from '../support/admin.ts'
import { until } from '../support/until.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

describe('console/forms', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this, { providers: [{ name: 'echo', type: 'echo' }] })
  })
  afterEach(() => expect(rig.complaints().filter((one) => !/status of (401|409|412|422)/.test(one))).to.deep.equal([]))
  after(() => rig?.close())

  const leaving = (page: Page) => page.getByRole('dialog', { name: 'Leave without saving?' })
  const provider = async (name: string) => {
    const { status } = await rig.gateway.asAdmin('POST /api/config/providers', { name, type: 'echo', config: {} })
    expect(status).to.equal(201)
    return rig.signedIn('admin', `/providers/${name}`)
  }

  it('ask before they go with their tab, their page or their place in the history', async () => {
    const page = await provider('left')
    const delay = page.getByRole('textbox', { name: 'Delay' })
    await delay.fill('5s')
    await page.getByRole('tab', { name: 'Usage' }).click()
    await leaving(page).getByRole('button', { name: 'Stay' }).click()
    expect(await delay.inputValue()).to.equal('5s')
    await page.getByRole('tab', { name: 'Usage' }).click()
    await leaving(page).getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('tab', { name: 'Usage', selected: true }).waitFor()

    await page.goto('/models')
    await page.getByRole('button', { name: 'Add model' }).click()
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('typed')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Models' }).click()
    await leaving(page).getByRole('button', { name: 'Stay' }).click()
    await page.evaluate('history.back()')
    await leaving(page).getByRole('button', { name: 'Stay' }).click()
    expect(await name.inputValue()).to.equal('typed')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor()
  })

  it('keep what is typed while a setting of the same section is looked for', async () => {
    const page = await rig.signedIn('admin', '/settings/resilience')
    const tries = page.getByRole('textbox', { name: 'Tries' })
    await tries.fill('7')
    await page.getByRole('searchbox', { name: 'Find a setting' }).fill('cooldown')
    await page.getByRole('link', { name: /Cooldown Resilience$/ }).click()
    await page.getByRole('textbox', { name: 'Cooldown' }).and(page.locator(':focus')).waitFor()
    expect(await tries.inputValue()).to.equal('7')
  })

  it('keep what is typed while they are saved', async () => {
    const page = await provider('slow')
    let answer = () => {}
    const held = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/api/config/providers/slow', async (route) => {
      if (route.request().method() === 'PATCH') await held
      await route.fallback()
    })
    await page.getByRole('textbox', { name: 'Delay' }).fill('5s')
    await page.getByRole('button', { name: 'Save' }).click()
    const size = page.getByRole('textbox', { name: 'Chunk size' })
    await size.fill('')
    await size.pressSequentially('3')
    answer()
    await page.getByText('1 change', { exact: true }).waitFor()
    await size.pressSequentially('2')
    expect(await size.inputValue()).to.equal('32')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Discard changes' }).waitFor({ state: 'detached' })
    await page.getByRole('status').getByText('Saved.').waitFor()
    const { body } = await rig.gateway.asAdmin('GET /api/config/providers/slow')
    expect(body['config']).to.deep.equal({ delay: '5s', chunk_size: 32 })
  })

  it('keep what is typed while they are saved where it is the old value again, or none yet', async () => {
    const page = await provider('back')
    const delay = page.getByRole('textbox', { name: 'Delay' })
    const size = page.getByRole('textbox', { name: 'Chunk size' })
    const save = page.getByRole('button', { name: 'Save' })
    const gone = page.getByRole('button', { name: 'Discard changes' })
    await delay.fill('1s')
    await save.click()
    await gone.waitFor({ state: 'detached' })
    for (const text of ['1s', '9s']) {
      let answer = () => {}
      const held = new Promise<void>((resolve) => (answer = resolve))
      await page.route(
        '**/api/config/providers/back',
        async (route) => {
          await held
          await route.fallback()
        },
        { times: 1 },
      )
      await delay.fill('9s')
      const saved = page.waitForResponse((one) => one.request().method() === 'PATCH')
      await save.click()
      await delay.fill(text)
      if (text === '9s') await size.fill('-')
      answer()
      await saved
      await page.locator('button[aria-busy]').waitFor({ state: 'detached' })
      expect(await delay.inputValue()).to.equal(text)
      if (text === '9s') break
      await page.getByText('1 change', { exact: true }).waitFor()
      await save.click()
      await gone.waitFor({ state: 'detached' })
      const { body } = await rig.gateway.asAdmin('GET /api/config/providers/back')
      expect(body['config']).to.include({ delay: '1s' })
    }
    expect(await size.inputValue()).to.equal('-')
    await save.click()
    await page.getByText('Not a number.').first().waitFor()
  })

  it('keep what is typed when the session is over, however its name is spelled to go on', async () => {
    const page = await provider('kept')
    const refused = { error: { message: 'The session is over.', type: 'x', param: null, code: 'invalid_token' } }
    const delay = page.getByRole('textbox', { name: 'Delay' })
    await delay.fill('5s')
    await page.route('**/api/config/providers/kept', (route) => route.fulfill({ status: 401, json: refused }))
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Your session is over' })
    await dialog.getByRole('textbox', { name: 'Username' }).fill('Admin')
    await dialog.getByLabel('Password', { exact: true }).fill(password)
    await page.unroute('**/api/config/providers/kept')
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await delay.inputValue()).to.equal('5s')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Discard changes' }).waitFor({ state: 'detached' })
    const { body } = await rig.gateway.asAdmin('GET /api/config/providers/kept')
    expect(body['config']).to.include({ delay: '5s' })
  })

  it('take a secret without the blanks around it, and leave one as it is where somebody thinks better of it', async () => {
    const page = await rig.signedIn('admin', '/providers?add=1')
    await page.getByRole('combobox', { name: 'Type' }).fill('compatible')
    await page.getByRole('option', { name: 'compatible', exact: true }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('pasted')
    await page.getByRole('textbox', { name: 'Base URL', exact: true }).fill('https://198.41.0.4/v1')
    const secret = page.getByRole('textbox', { name: 'API key', exact: true })
    await page.evaluate("navigator.clipboard.writeText('\\t sk-pasted-with-blanks-3f9a \\n')")
    await secret.focus()
    await page.keyboard.press('Control+v')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'pasted' }).waitFor()
    const saved = page.getByText('Set, ends in 3f9a')
    await saved.waitFor()

    await page.getByRole('button', { name: 'Replace' }).first().click()
    await secret.and(page.locator(':focus')).waitFor()
    await secret.fill('no good: ä')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('main')
      .getByRole('alert')
      .getByText(/printable ASCII/)
      .waitFor()
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Keep API key as it is' }).click()
    await saved.waitFor()
    await page.getByRole('button', { name: 'Remove API key' }).click()
    await page.getByText('It is removed when you save.').waitFor()
    await page.getByRole('button', { name: 'Keep API key as it is' }).click()
    await saved.waitFor()
    const replace = page.getByRole('button', { name: 'Replace' }).first()
    await replace.and(page.locator(':focus')).waitFor()
    expect(await page.getByRole('button', { name: 'Discard changes' }).count()).to.equal(0)

    const finding = { message: 'The key is too old.', type: 'x', param: 'config.api_key', code: 'invalid_value' }
    const refused = { error: finding, errors: [finding] }
    await page.route('**/api/config/providers/pasted', (route) => route.fulfill({ status: 422, json: refused }))
    await page.getByRole('textbox', { name: 'Base URL', exact: true }).fill('https://198.41.0.4/v2')
    await page.getByRole('button', { name: 'Save' }).click()
    await secret.pressSequentially('sk-new')
    expect(await secret.inputValue()).to.equal('sk-new')
    await page.getByRole('button', { name: 'Keep API key as it is' }).click()
    await replace.and(page.locator(':focus')).waitFor()
  })

  it('are not held up by what was typed into a row that is gone, nor is it in the next one', async () => {
    const page = await rig.signedIn('admin', '/models?add=1')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('rowed')
    await page.getByRole('combobox', { name: 'Provider' }).fill('echo')
    await page.getByRole('option', { name: 'echo', exact: true }).click()
    await page.getByRole('button', { name: /more settings/ }).click()
    const weights = page.getByRole('textbox', { name: 'Weight' })
    for (const weight of ['abc', '2']) {
      await page.getByRole('button', { name: 'Add to Deployments' }).click()
      await weights.last().fill(weight)
    }
    await page.getByRole('button', { name: 'Remove Deployments 1' }).click()
    expect(await weights.inputValue()).to.equal('2')
    await page.getByRole('button', { name: 'Remove Deployments 1' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'rowed' }).waitFor()
  })

  it('keep what is typed into the rows that stay, and the focus near to the one that is gone', async () => {
    const page = await rig.signedIn('admin', '/models?add=1')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('stays')
    await page.getByRole('combobox', { name: 'Provider' }).fill('echo')
    await page.getByRole('option', { name: 'echo', exact: true }).click()
    await page.getByRole('button', { name: /more settings/ }).click()
    const weights = page.getByRole('textbox', { name: 'Weight' })
    const add = page.getByRole('button', { name: 'Add to Deployments' })
    for (const weight of ['1', '2', 'abc']) {
      await add.click()
      await weights.last().fill(weight)
    }
    const typed = () => Promise.all([0, 1].map((at) => weights.nth(at).inputValue()))
    const first = page.getByRole('button', { name: 'Remove Deployments 1' })
    await first.click()
    expect(await typed()).to.deep.equal(['2', 'abc'])
    await first.and(page.locator(':focus')).press('Enter')
    await add.click()
    await weights.last().fill('3')
    expect(await typed()).to.deep.equal(['abc', '3'])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This is not a number.').first().waitFor()
    await weights.first().fill('4')
    await page.getByRole('button', { name: 'Remove Deployments 2' }).click()
    await add.and(page.locator(':focus')).waitFor()
    await first.click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'stays' }).waitFor()
  })

  it('lead from each thing that is wrong to its field, at every attempt, and leave the focus there', async () => {
    const page = await rig.signedIn('admin', '/keys/new')
    const summary = page
      .getByRole('main')
      .getByRole('alert')
      .filter({ has: page.getByRole('button') })
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    for (let attempt = 0; attempt < 2; attempt++) {
      await page.getByRole('button', { name: 'Save' }).click()
      await summary.and(page.locator(':focus')).waitFor()
    }
    await summary.getByText('Needed.').waitFor()
    await summary.getByRole('button', { name: 'Name' }).click()
    await name.and(page.locator(':focus')).waitFor()
    await page.getByRole('button', { name: 'Set Budget' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await summary.getByText('2 fields need another look.').waitFor()
    expect(await axe(page)).to.deep.equal([])
    await summary.getByRole('button', { name: 'Name: Needed.' }).click()
    await page.keyboard.type('typed-by-hand')
    expect(await name.inputValue()).to.equal('typed-by-hand')

    await rig.gateway.asAdmin('POST /api/api-keys', { name: 'taken' })
    await page.getByRole('button', { name: 'Remove Budget' }).click()
    await name.fill('taken')
    await page.getByRole('button', { name: 'Save' }).click()
    const refused = page.getByRole('main').getByRole('alert').filter({ hasText: 'exists already' })
    await refused.and(page.locator(':focus')).waitFor()
    await page.getByRole('button', { name: 'Discard changes' }).click()

    await page.goto('/models?add=1')
    await name.fill('wrong-row')
    await page.getByRole('button', { name: /more settings/ }).click()
    await page.getByRole('button', { name: 'Add to Deployments' }).click()
    const weight = page.getByRole('textbox', { name: 'Weight' })
    await weight.fill('-1')
    await page.getByRole('button', { name: 'Save' }).click()
    await summary
      .getByRole('button', { name: /Deployments/ })
      .first()
      .click()
    await until(async () => (await page.locator('fieldset [aria-invalid=true]:focus').count()) === 1)
  })
})
