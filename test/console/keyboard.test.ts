import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

/** The letters after `g`, in the order of the rail. */
const screens = {
  o: 'Overview',
  l: 'Logs',
  p: 'Pipelines',
  r: 'Routing',
  y: 'Playground',
  q: 'Quick start',
  m: 'Models',
  v: 'Providers',
  k: 'API keys',
  t: 'Members',
  c: 'MCP servers',
  g: 'Guards',
  s: 'Settings',
  a: 'Audit',
}

describe('console/keyboard', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this)
    for (const name of ['first', 'second', 'third']) {
      // The list has the newest on top.
      // oxlint-disable-next-line no-await-in-loop
      await rig.gateway.asAdmin('POST /api/api-keys', { name })
      // oxlint-disable-next-line no-await-in-loop
      await rig.gateway.asKey('POST /v1/chat/completions', {
        model: 'echo',
        messages: [{ role: 'user', content: name }],
      })
    }
    await rig.gateway.rows(3)
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  const shows = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  const focused = (page: Page) => page.locator(':focus')

  it('goes to every screen from every other', async () => {
    const page = await rig.signedIn('admin', '/')
    await shows(page, 'Overview')
    for (const [letter, name] of [...Object.entries(screens), ...Object.entries(screens).toReversed()]) {
      await page.keyboard.press('g')
      await page.keyboard.press(letter)
      await shows(page, name)
    }
  })

  it('walks the rows, chooses and opens them', async () => {
    const page = await rig.signedIn('admin', '/keys')
    const box = (name: string) => page.getByRole('checkbox', { name: `Choose ${name}` })
    await box('third').waitFor()
    for (const [key, name] of [
      ['j', 'third'],
      ['j', 'second'],
      ['ArrowDown', 'first'],
      ['ArrowUp', 'second'],
      ['k', 'third'],
    ] as const) {
      await page.keyboard.press(key)
      expect(await focused(page).innerText(), key).to.equal(name)
    }
    await page.keyboard.press('Space')
    await page.keyboard.press('j')
    await page.keyboard.press('Space')
    await page.getByRole('group', { name: '2 keys chosen' }).waitFor()
    expect([await box('third').isChecked(), await box('second').isChecked()]).to.deep.equal([true, true])
    // From the box itself, arrows go on.
    await box('second').focus()
    await page.keyboard.press('ArrowDown')
    expect(await focused(page).innerText()).to.equal('first')
    await page.keyboard.press('Enter')
    await shows(page, 'first')
  })

  it('opens the filters of every list that has some, and loads data again', async () => {
    const page = await rig.signedIn('admin', '/logs')
    for (const path of ['/logs', '/audit', '/keys', '/models', '/members', '/providers', '/mcp-servers', '/guards']) {
      await page.goto(path)
      await page.getByRole('button', { name: 'Add filter' }).waitFor()
      await page.keyboard.press('f')
      await page.getByRole('combobox', { name: 'Field' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Add filter' }).and(focused(page)).waitFor()
    }
    await page.goto('/logs?status=5xx&model=echo')
    for (const name of ['Remove filter: Status is 5xx', 'Clear all']) {
      await page.getByRole('button', { name }).press('Enter')
      await page.getByRole('button', { name }).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Add filter' }).and(focused(page)).waitFor()
    }
    await page.goto('/keys')
    await page.getByRole('checkbox', { name: 'Choose third' }).waitFor()
    const asked = page.waitForRequest((request) => new URL(request.url()).pathname === '/api/api-keys')
    await page.keyboard.press('r')
    await asked
  })

  it('pauses only what moves, and changes the theme', async () => {
    const page = await rig.signedIn('admin', '/keys')
    await shows(page, 'API keys')
    await page.keyboard.press('.')
    await page.keyboard.press('t')
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
    expect(new URL(page.url()).search).to.equal('')
    for (const path of ['/', '/logs', '/pipelines', '/routing']) {
      await page.goto(path)
      await page.getByRole('button', { name: 'Live' }).waitFor()
      await page.keyboard.press('.')
      await page.getByRole('button', { name: 'Paused' }).waitFor()
    }
  })

  it('steps from request to request on the picture of a pipeline', async () => {
    const page = await rig.signedIn('admin', '/logs?live=0')
    const links = page.getByRole('table', { name: 'Requests' }).getByRole('link')
    await links.nth(2).waitFor()
    const ids = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')?.slice(6, 42)))
    await page.goto(`/pipelines/chat-completions?request=${ids[1]}&stage=parse`)
    const requested = async (id: string | undefined) =>
      page.waitForURL((url) => url.searchParams.get('request') === id && url.searchParams.get('stage') === 'parse')
    await page.getByRole('link', { name: 'newer' }).waitFor()
    await page.keyboard.press('j')
    await requested(ids[2])
    await page.getByRole('link', { name: 'newer' }).waitFor()
    expect(await page.getByRole('link', { name: 'older' }).count()).to.equal(0)
    await page.keyboard.press('k')
    await requested(ids[1])
    await page.getByRole('link', { name: 'newer' }).click()
    await requested(ids[0])
    await page.getByRole('tree', { name: 'Stages of chat-completions' }).waitFor()
  })

  it('closes a request, to the list from which it was opened', async () => {
    const page = await rig.signedIn('admin', '/logs?live=0&result=completed')
    const links = page.getByRole('table', { name: 'Requests' }).getByRole('link')
    await links.nth(2).waitFor()
    const href = await links.nth(1).getAttribute('href')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /^Request/ }).waitFor()
    expect(page.url()).to.include(href)
    // A menu that is open closes alone.
    await page.getByRole('button', { name: 'Theme' }).click()
    await page.getByRole('menuitemradio', { name: 'Light' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    expect(page.url()).to.include(href)
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/logs\?live=0&result=completed$/)

    const linked = await rig.signedIn('admin', href ?? '')
    await linked.getByRole('heading', { level: 1, name: /^Request/ }).waitFor()
    await linked.keyboard.press('Escape')
    await linked.waitForURL(/\/logs\?/)
    await shows(linked, 'Logs')
  })

  it('finds settings, forms and references in the palette', async () => {
    const page = await rig.signedIn('admin', '/keys')
    await shows(page, 'API keys')
    const find = async (text: string, option: string) => {
      await page.keyboard.press('Control+k')
      const dialog = page.getByRole('dialog', { name: 'Search' })
      await dialog.getByRole('combobox').fill(text)
      await dialog.getByRole('option', { name: option }).first().click()
      await dialog.waitFor({ state: 'detached' })
    }
    await find('shortest', 'security › Shortest password')
    await page.waitForURL(/\/settings\/security\?field=password_min_length$/)
    await page
      .getByRole('spinbutton', { name: /password/i })
      .or(page.getByLabel(/password/i))
      .first()
      .waitFor()
    for (const name of ['Add provider', 'Add model', 'Add key', 'Add member', 'Add MCP server']) {
      await find(name.toLowerCase(), name)
      await shows(page, name)
    }
    for (const name of ['Account', 'Configuration']) {
      await find(name.toLowerCase(), `${name} Screen`)
      await shows(page, name)
    }
    await find('req-of-client-42', 'Request with the reference req-of-client-42')
    await page.getByRole('button', { name: 'Remove filter: Id or reference is req-of-client-42' }).waitFor()
  })
})
