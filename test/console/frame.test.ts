import { expect } from 'chai'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'
import { password } from '../support/admin.ts'

describe('console/frame', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this)
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  const shows = (page: Awaited<ReturnType<SignedInRig['open']>>, heading: string) =>
    page.getByRole('heading', { level: 1, name: heading }).waitFor()

  it('has landmarks, and breaks no rule of access in either theme', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.signedIn('admin', '/', { theme })
      await shows(page, 'Overview')
      expect(await page.title()).to.equal('Overview · Sluice')
      for (const role of ['banner', 'main'] as const) expect(await page.getByRole(role).count(), role).to.equal(1)
      const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
      expect(await links.allInnerTexts()).to.include('Overview')
      expect(await page.getByRole('link', { name: 'Overview' }).getAttribute('aria-current')).to.equal('page')
      await page.getByText(/^Configuration [0-9a-f]{8}$/).waitFor()
      expect(await axe(page)).to.deep.equal([])
    }
  })

  it('begins with a link that skips to the content', async () => {
    const page = await rig.signedIn('admin')
    await shows(page, 'Overview')
    await page.keyboard.press('Tab')
    const skip = page.getByRole('link', { name: 'Skip to content' })
    expect(await skip.evaluate((link) => link === link.ownerDocument.activeElement)).to.equal(true)
    await page.keyboard.press('Enter')
    await page.locator('main:focus').waitFor()
  })

  it('follows the system until a theme is chosen, and keeps the choice', async () => {
    const page = await rig.signedIn('admin', '/', { theme: 'dark' })
    await shows(page, 'Overview')
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
    expect(await scheme()).to.equal('dark')
    await page.getByRole('button', { name: 'Theme' }).click()
    expect(await page.getByRole('menuitemradio', { name: 'System' }).getAttribute('aria-checked')).to.equal('true')
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('menuitemradio', { name: 'Light' }).click()
    await page.locator('html[data-mantine-color-scheme=light]').waitFor()
    await page.reload()
    await shows(page, 'Overview')
    expect(await scheme()).to.equal('light')
  })

  it('keeps the time range in the address', async () => {
    const page = await rig.signedIn('admin', '/?live=0')
    await page.getByRole('button', { name: 'Paused', pressed: false }).click()
    await page.getByRole('button', { name: 'Live', pressed: true }).waitFor()
    expect(new URL(page.url()).search).to.equal('')
    await page.getByRole('button', { name: 'Time range: Last 24 hours' }).click()
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Last 7 days' }).click()
    await page.getByRole('button', { name: 'Time range: Last 7 days' }).click()
    expect(new URL(page.url()).search).to.equal('?range=7d')
    await page.getByRole('textbox', { name: 'From' }).fill('yesterday')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('This is not a date and time.').waitFor()
    await page.getByRole('textbox', { name: 'From' }).fill('2026-03-01 10:00')
    await page.getByRole('textbox', { name: 'To', exact: true }).fill('2026-03-01 12:30')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Time range: 2026-03-01 10:00 – 2026-03-01 12:30' }).waitFor()
    const { searchParams } = new URL(page.url())
    expect([...searchParams]).to.deep.equal([
      ['since', '2026-03-01T10:00:00.000Z'],
      ['until', '2026-03-01T12:30:00.000Z'],
    ])
    await page.goBack()
    await page.getByRole('button', { name: 'Time range: Last 7 days' }).waitFor()
  })

  it('says so where the address has a value that is none, and takes the usual one', async () => {
    for (const [search, name] of [
      ['range=3w', 'range'],
      ['since=soon', 'since'],
      ['since=2026-03-02T00:00:00Z&until=2026-03-01T00:00:00Z', 'since'],
      ['since=2026-03-01T00:00:00Z&until=later', 'until'],
      ['until=2026-03-01T00:00:00Z', 'until'],
      ['group=moon', 'group'],
    ]) {
      const page = await rig.signedIn('admin', `/?${search}`)
      await page.getByRole('status').getByText(`"${name}"`).waitFor()
      await page.getByRole('button', { name: 'Time range: Last 24 hours' }).waitFor()
      await page.waitForURL((url) => url.search === '')
    }
  })

  it('does not call a range live that has ended, and leads back to one that moves', async () => {
    const page = await rig.signedIn('admin', '/?since=2026-03-01T00:00:00Z&until=2026-03-02T00:00:00Z')
    await page.getByRole('button', { name: 'Paused', pressed: false }).click()
    await page.getByRole('button', { name: 'Live', pressed: true }).waitFor()
    await page.getByRole('button', { name: 'Time range: Last 24 hours' }).waitFor()
    expect(new URL(page.url()).search).to.equal('')
    await page.goBack()
    await page.getByRole('button', { name: 'Paused' }).waitFor()
  })

  it('shows inside itself that an address has no page', async () => {
    const page = await rig.signedIn('admin', '/no/such/place')
    await shows(page, 'There is no page here')
    await page.getByRole('link', { name: 'Go to Overview' }).click()
    await shows(page, 'Overview')
    // The heading has the focus after a navigation, so that a screen reader reads it.
    await page.locator('h1:focus').waitFor()
  })

  it('shows viewers only what they may see', async () => {
    const page = await rig.signedIn('viewer')
    await shows(page, 'Overview')
    const names = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts()
    for (const name of ['Pipelines', 'Routing', 'Providers', 'Members', 'MCP servers', 'Settings', 'Audit'])
      expect(names).not.to.include(name)
    expect(await page.getByText(/^Configuration /).count()).to.equal(0)
  })

  it('becomes a drawer on a phone, without scrolling in two directions', async () => {
    const page = await rig.signedIn('admin', '/', { width: 390 })
    await shows(page, 'Overview')
    const rail = page.getByRole('navigation', { name: 'Main' })
    expect(await rail.count()).to.equal(0)
    await page.getByRole('button', { name: 'Menu', expanded: false }).click()
    await rail.waitFor()
    await rail.getByRole('link', { name: 'Overview' }).focus()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Menu', expanded: false }).waitFor()
    await page.setViewportSize({ width: 320, height: 600 })
    const overflow = await page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth)
    expect(overflow).to.be.at.most(0)
  })

  it('finds screens and actions from one field', async () => {
    const page = await rig.signedIn('admin', '/no/such/place')
    await shows(page, 'There is no page here')
    await page.getByRole('button', { name: 'Search' }).click()
    const dialog = page.getByRole('dialog', { name: 'Search' })
    const field = dialog.getByRole('combobox')
    await dialog.getByRole('option', { name: 'Overview' }).waitFor()
    expect(await axe(page)).to.deep.equal([])
    await field.fill('no such word')
    await dialog.getByText('Nothing matches.').waitFor()
    await field.fill('over')
    await dialog.getByRole('option', { name: 'Overview', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await shows(page, 'Overview')
    await page.keyboard.press('Control+k')
    await dialog.locator('input:focus').waitFor()
    await page.keyboard.type('switch dark')
    await dialog.getByRole('option', { name: 'Switch to dark' }).click()
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
    await page.keyboard.press('/')
    await dialog.getByRole('option', { name: 'There is no page here' }).waitFor()
    await field.fill('reload')
    const answered = page.waitForResponse('**/api/config/reload')
    await page.keyboard.press('Enter')
    expect((await answered).status()).to.equal(200)
    await page.getByRole('status').getByText('The configuration was reloaded.').waitFor()
    await page.keyboard.press('Control+k')
    await field.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  it('lets viewers find nothing that is not theirs', async () => {
    const page = await rig.signedIn('viewer')
    await shows(page, 'Overview')
    await page.keyboard.press('Control+k')
    const dialog = page.getByRole('dialog', { name: 'Search' })
    await dialog.getByRole('combobox').fill('reload')
    await dialog.getByText('Nothing matches.').waitFor()
  })

  it('has keys, which do nothing inside of fields', async () => {
    const page = await rig.signedIn('admin', '/no/such/place')
    await shows(page, 'There is no page here')
    await page.keyboard.press('?')
    const keys = page.getByRole('dialog', { name: 'Keys' })
    await keys.getByText('g o', { exact: true }).waitFor()
    expect(await axe(page)).to.deep.equal([])
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await shows(page, 'Overview')
    await page.keyboard.press('.')
    await page.getByRole('button', { name: 'Paused' }).waitFor()
    await page.getByRole('button', { name: /^Time range/ }).click()
    await page.getByRole('textbox', { name: 'From' }).pressSequentially('go.?/t')
    expect(await page.getByRole('textbox', { name: 'From' }).inputValue()).to.equal('go.?/t')
    expect(await page.getByRole('dialog', { name: 'Keys' }).count()).to.equal(0)
    expect(await page.locator('html').getAttribute('data-mantine-color-scheme')).to.equal('light')
  })

  it('waits for a gateway that is silent, and shows then what was asked for', async () => {
    const page = await rig.signedIn('admin', '/')
    await shows(page, 'Overview')
    await page.getByRole('img', { name: /^Requests by outcome/ }).waitFor()
    await page.context().setOffline(true)
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'API keys' }).click()
    await page.keyboard.press('Control+k')
    const silent = page.getByRole('region', { name: 'Attention' }).getByText('The gateway does not answer')
    await silent.waitFor()
    await page.context().setOffline(false)
    await page.getByRole('region', { name: 'Attention' }).getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('dialog', { name: 'Search' }).getByRole('combobox').waitFor()
    await page.keyboard.press('Escape')
    await shows(page, 'API keys')
    const row = page.getByRole('table', { name: 'API keys' }).getByRole('row').nth(1)
    await row.waitFor()
    expect((await row.boundingBox())?.height).to.be.lessThan(40)
    expect(await axe(page)).to.deep.equal([])
    // The browser itself tells its console of everything that did not come.
    expect(rig.complaints().filter((line) => !line.includes('ERR_INTERNET_DISCONNECTED'))).to.deep.equal([])
  })

  it('signs out', async () => {
    const page = await rig.signedIn('viewer')
    await page.getByRole('button', { name: 'Account viewer' }).click()
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await shows(page, 'Sign in')
    await page.goto('/')
    await shows(page, 'Sign in')
  })

  it('asks for the password when the session is over, and the page stays', async () => {
    const page = await rig.signedIn('admin', '/?range=7d')
    await shows(page, 'Overview')
    await page.evaluate(() => {
      const held = JSON.parse(sessionStorage.getItem('sluice-session') ?? '{}') as { session: { token: string } }
      held.session.token = 'no-longer-good'
      sessionStorage.setItem('sluice-session', JSON.stringify(held))
    })
    await page.reload()
    const dialog = page.getByRole('dialog', { name: 'Your session is over' })
    await dialog.waitFor()
    expect(await axe(page)).to.deep.equal([])
    await dialog.locator('input[type=password]:focus').waitFor()
    await page.keyboard.type(password)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Time range: Last 7 days' }).waitFor()
    await page.getByText(/^Configuration /).waitFor()
    // The browser itself tells its console of every 401.
    expect(rig.complaints().filter((line) => !line.includes('status of 401'))).to.deep.equal([])
  })
})
