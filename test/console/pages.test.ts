import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
import { axe, sticksOut, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'
import { payloads } from './support/payloads.ts'
import { pictured } from './support/pictured.ts'
import { reads, watched } from './support/staying-text.ts'

const plugins = ['closures', 'visits'].map((name) => join(import.meta.dirname, `../seams/pages/${name}.ts`))
const [{ text: payload } = { text: '' }] = payloads

describe('console/pages', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this, {
      plugins,
      records: { closures: [{ name: 'winter', model: 'echo', reason: payload, until: '2027-01-31T12:00:00Z' }] },
    })
  })
  afterEach(() => expect(rig.complaints().filter((one) => !/status of (412|422)/.test(one))).to.deep.equal([]))
  after(() => rig?.close())

  const table = (page: Page) => page.getByRole('table', { name: 'Closures' })
  const make = (name: string, more = {}) =>
    rig.gateway.asAdmin('POST /api/closures', { name, model: 'echo', reason: 'It is moved.', ...more })

  for (const theme of ['light', 'dark'] as const)
    it(`stand in the rail, list what their columns name, and show what the file declares (${theme})`, async () => {
      const page = await rig.signedIn('admin', '/', { theme })
      const main = page.getByRole('navigation', { name: 'Main' })
      await main.getByRole('link', { name: 'Closures' }).click()
      await page.getByRole('heading', { level: 1, name: 'Closures' }).waitFor()
      expect(await main.getByRole('list').last().getByRole('link').allInnerTexts()).to.include('Closures')
      await table(page)
        .getByRole('row', { name: /^winter in file echo planned .* no$/ })
        .waitFor()
      const heads = await table(page).getByRole('columnheader').allInnerTexts()
      expect(heads.map((text) => text.trim())).to.deep.equal(['Name', 'Model', 'Kind', 'Until', 'Lifted'])
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `pages-list-${theme}`)

      await table(page)
        .getByRole('link', { name: /winter/ })
        .click()
      await page.getByRole('heading', { level: 1, name: 'winter' }).waitFor()
      await page.getByText(/^Declared in .*:\d+\. Change it there/).waitFor()
      const facts = page.getByRole('region', { name: 'Facts' })
      await facts.getByText(payload).waitFor()
      for (const name of ['Save', 'Delete']) expect(await page.getByRole('button', { name }).count()).to.equal(0)
      expect(await axe(page)).to.deep.equal([])
      expect(await page.title()).to.equal('winter · Sluice')

      await make(`shown-${theme}`)
      await page.goto(`/pages/closure/shown-${theme}`)
      await page.getByRole('textbox', { name: 'Reason' }).waitFor()
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `pages-record-${theme}`)
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await sticksOut(page)).to.deep.equal([])
      }
    })

  it('make a record, change it, and delete it once its name is typed', async () => {
    const page = await rig.signedIn('admin', '/pages/closure')
    await page.getByRole('button', { name: 'New' }).click()
    await page.getByRole('heading', { level: 1, name: 'New in Closures' }).waitFor()
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('textbox', { name: 'Name' }).and(page.locator('[aria-invalid="true"]')).waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('spring')
    await page.getByRole('combobox', { name: 'Model' }).fill('echo')
    await page.getByRole('option', { name: 'echo' }).click()
    await page.getByRole('button', { name: 'Save' }).click()

    await page.getByRole('heading', { level: 1, name: 'spring' }).waitFor()
    expect(new URL(page.url()).pathname).to.equal('/pages/closure/spring')
    await page.getByRole('textbox', { name: 'Reason' }).fill('It is moved.')
    await page.getByRole('radio', { name: 'urgent' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('status').getByText('Saved.').waitFor()
    await page.getByRole('region', { name: 'Facts' }).getByText('It is moved.').waitFor()
    const { body } = await rig.gateway.asAdmin('GET /api/closures/spring')
    expect(body).to.include({ model: 'echo', reason: 'It is moved.', kind: 'urgent', version: 2 })

    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete spring' })
    expect(await axe(page)).to.deep.equal([])
    await dialog.getByRole('textbox', { name: 'Type spring to confirm' }).fill('spring')
    await dialog.getByRole('button', { name: 'Delete spring' }).click()
    await table(page)
      .getByRole('row', { name: /winter/ })
      .waitFor()
    await table(page)
      .getByRole('row', { name: /spring/ })
      .waitFor({ state: 'detached' })
    expect((await rig.gateway.asAdmin('GET /api/closures/spring')).status).to.equal(404)
  })

  it('tell what somebody else changed meanwhile, and which field the gateway refuses', async () => {
    await make('summer')
    const page = await rig.signedIn('admin', '/pages/closure/summer')
    await page.getByRole('textbox', { name: 'Reason' }).fill('Mine')
    await rig.gateway.asAdmin('PATCH /api/closures/summer', { reason: 'Theirs' })
    await page.getByRole('button', { name: 'Save' }).click()
    const conflict = page.getByRole('dialog', { name: /^Changed by admin .* ago$/ })
    await conflict.getByRole('row', { name: 'Reason Theirs Mine' }).waitFor()
    await conflict.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByRole('status').getByText('Saved.').waitFor()
    expect((await rig.gateway.asAdmin('GET /api/closures/summer')).body).to.include({ reason: 'Mine', version: 3 })

    await page.goto('/pages/closure/-/new')
    await page.getByRole('textbox', { name: 'Name' }).fill('summer')
    await page.getByRole('combobox', { name: 'Model' }).fill('echo')
    await page.getByRole('option', { name: 'echo' }).click()
    await page.route('**/api/closures', (route) => {
      const error = { param: 'reason', code: 'invalid_field', message: 'reason is too sad.' }
      return route.request().method() === 'POST'
        ? route.fulfill({ status: 422, json: { error, errors: [error] } })
        : route.fallback()
    })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('textbox', { name: 'Reason' }).and(page.locator('[aria-invalid="true"]')).waitFor()
  })

  it('tell who changed a record by its type, whatever the last folder of its path is called', async () => {
    await make('moved')
    const page = await rig.signedIn('admin')
    await page.route('**/api/pages', async (route) => {
      const { data } = (await (await route.fetch()).json()) as { data: readonly { name: string; routes: object }[] }
      const moved = { change: 'PATCH /api/acme/servers/:name' }
      const all = data.map((one) => (one.name === 'closure' ? { ...one, routes: { ...one.routes, ...moved } } : one))
      await route.fulfill({ json: { data: all } })
    })
    await page.route('**/api/acme/servers/moved', (route) => {
      const error = { param: null, code: 'version_conflict', message: 'It has another version.' }
      return route.fulfill({ status: 412, json: { error } })
    })
    await page.goto('/pages/closure/moved')
    await page.getByRole('textbox', { name: 'Reason' }).fill('Mine')
    const asked = page.waitForRequest('**/api/logs/audit?*')
    await page.getByRole('button', { name: 'Save' }).click()
    const { searchParams } = new URL((await asked).url())
    expect(searchParams.getAll('action')).to.include('closure.update').and.not.include('mcp_server.update')
    await page.getByRole('dialog', { name: /^Changed by admin .* ago$/ }).waitFor()
  })

  it('search, filter and sort in the address, by what the route takes', async () => {
    await make('autumn', { lifted: true })
    const page = await rig.signedIn('admin', '/pages/closure')
    await table(page)
      .getByRole('row', { name: /autumn/ })
      .waitFor()
    await page.getByRole('button', { name: 'Add filter' }).click()
    const form = page.getByRole('dialog', { name: 'Add filter' })
    await form.getByRole('combobox', { name: 'Field' }).selectOption('Lifted')
    await form.getByRole('combobox', { name: 'Value' }).selectOption('yes')
    await form.getByRole('button', { name: 'Apply' }).click()
    await table(page)
      .getByRole('row', { name: /winter/ })
      .waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).to.equal('?lifted=true')
    expect(await table(page).getByRole('row').count()).to.equal(2)
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing like it')
    await page.getByText('Nothing fits these filters.').waitFor()
    await page.getByRole('button', { name: 'Clear all' }).click()
    await table(page).getByRole('button', { name: 'Name' }).click()
    const names = table(page).getByRole('row').nth(1)
    await names.and(page.getByRole('row', { name: /winter/ })).waitFor()
    expect(new URL(page.url()).search).to.equal('?sort=-name')
    await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'detached' })
  })

  it('show viewers what they may read, without New, Save and Delete', async () => {
    const page = await rig.signedIn('viewer', '/pages/closure')
    await table(page)
      .getByRole('link', { name: /winter/ })
      .waitFor()
    expect(await page.getByRole('button', { name: 'New' }).count()).to.equal(0)
    await page.goto('/pages/closure/-/new')
    await table(page)
      .getByRole('link', { name: /winter/ })
      .click()
    await page.getByRole('heading', { level: 1, name: 'winter' }).waitFor()
    await page.getByRole('region', { name: 'Facts' }).getByText(payload).waitFor()
    for (const name of ['Save', 'Delete']) expect(await page.getByRole('button', { name }).count()).to.equal(0)
    expect(await axe(page)).to.deep.equal([])
    await page.goto('/pages/closure/nobody')
    await page.getByText('There is no "nobody" in this list.').waitFor()
    await page.goto('/pages/visit')
    await page.getByText('There is no page here').first().waitFor()
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Visits' }).count()).to.equal(0)
  })

  it('load long lists page by page, and find a record in them that no route answers alone', async () => {
    const page = await rig.signedIn('admin', '/pages/visit')
    const visits = page.getByRole('table', { name: 'Visits' })
    await visits.getByRole('row', { name: /^visitor 1 / }).waitFor()
    // The next page is loaded by coming near the end; rows out of view are not in the document.
    await until(async () => {
      await page
        .getByRole('group', { name: 'Visits' })
        .evaluate((region) => region.scrollTo({ top: region.scrollHeight, behavior: 'instant' }))
      return (await visits.getByRole('row', { name: /^visitor 150 / }).count()) > 0
    })
    await page.goto('/pages/visit/149')
    const facts = page.getByRole('region', { name: 'Facts' })
    await facts.getByText('1490 s', { exact: true }).waitFor()
    await facts.getByText('Floor: 3, Door: blue', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).count()).to.equal(0)
    await page.goto('/pages/visit?since=2026-11-23')
    await page.getByText('Nothing fits these filters.').waitFor()
  })

  it('show a row of a list beyond its first 2,000, and say so where only these can be read', async () => {
    const page = await rig.signedIn('admin', '/account')
    const visit = { who: 'visitor', at: '2026-01-01T00:00:00.000Z', seconds: 10, room: { floor: 3, door: 'blue' } }
    let read = 0
    await page.route('**/api/visits?*', async (route) => {
      const isWhole = new URL(route.request().url()).searchParams.get('limit') === '200'
      if (isWhole) read++
      const ids = isWhole ? Array.from({ length: 200 }, (_, at) => 200 * read + at) : [5000]
      await route.fulfill({ json: { data: ids.map((id) => ({ ...visit, id })), next_cursor: isWhole ? 'more' : null } })
    })
    await page.getByRole('link', { name: 'Visits' }).click()
    await page.getByRole('link', { name: 'visitor', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: '5000' }).waitFor()
    const facts = page.getByRole('region', { name: 'Facts' })
    await facts.getByText('10 s', { exact: true }).waitFor()
    await until(() => read === 10)
    await facts.getByText('10 s', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('"5000" is not among the first 2,000 of this list.').waitFor()
  })

  it('read a moment in UTC wherever the browser is, and take one alone', async () => {
    const page = await rig.signedIn('admin', '/pages/visit')
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Tokyo' })
    const first = page.getByRole('table', { name: 'Visits' }).getByRole('row').nth(1)
    for (const [since, visitor] of [
      ['2026-01-01 02:00', 'visitor 121'],
      ['2026-01-01 02:10', 'visitor 131'],
    ] as const) {
      await page.getByRole('button', { name: 'Add filter' }).click()
      const form = page.getByRole('dialog', { name: 'Add filter' })
      await form.getByRole('combobox', { name: 'Value' }).fill(since)
      await form.getByRole('button', { name: 'Apply' }).click()
      await first.getByText(visitor, { exact: true }).waitFor()
      const chips = page.getByRole('button', { name: 'Remove filter' })
      expect(await chips.allInnerTexts()).to.have.length(1)
      await chips.getByText(since).waitFor()
    }
  })

  it('have their form in a place that no filter has', async () => {
    const page = await rig.signedIn('admin', '/pages/visit?since=2026-01-01T00:00:00Z&add=1')
    await page.getByRole('button', { name: 'Remove filter: Add is 1' }).waitFor()
    await page.getByRole('row', { name: /^visitor 61 / }).waitFor()
    await page.getByRole('button', { name: 'New' }).click()
    await page.getByRole('textbox', { name: 'Visitor' }).waitFor()
    expect(new URL(page.url()).pathname).to.equal('/pages/visit/-/new')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('row', { name: /^visitor 61 / }).waitFor()
    expect(new URL(page.url()).searchParams.get('add')).to.equal('1')
  })

  it('make and delete what an action lists, where the plugin has the routes', async () => {
    const page = await rig.signedIn('admin', '/pages/visit')
    await page.getByRole('button', { name: 'New' }).click()
    await page.getByRole('textbox', { name: 'Visitor' }).fill('Ann')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: '151' }).waitFor()
    await page.getByText('Ann', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('Ann', { exact: true }).waitFor()
    expect(await page.getByText('in file').count()).to.equal(0)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('It is gone for good.', { exact: true }).waitFor()
    await page.getByRole('textbox', { name: 'Type 151 to confirm' }).fill('151')
    await page.getByRole('button', { name: 'Delete 151' }).click()
    await page.getByRole('table', { name: 'Visits' }).waitFor()
    expect((await rig.gateway.asAdmin('GET /api/visits?limit=200')).body['data']).to.have.length(150)
  })

  it('come with another configuration, to admins once they see its version, to viewers by and by', async () => {
    const link = (page: Page) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Openings' })
    /** As if a plugin had brought one more page, and another version of the configuration with it. */
    const change = async (page: Page) => {
      await page.route('**/api/pages', async (route) => {
        const { data } = (await (await route.fetch()).json()) as { data: readonly { name: string }[] }
        const more = data.filter(({ name }) => name === 'closure').map((one) => ({ ...one, title: 'Openings' }))
        await route.fulfill({ json: { data: [...data, ...more.map((one) => ({ ...one, name: 'opening' }))] } })
      })
      await page.route('**/api/config/status', async (route) => {
        const answer = (await (await route.fetch()).json()) as object
        await route.fulfill({ json: { ...answer, version: 'f0f0f0f0'.repeat(8) } })
      })
    }
    const admin = await rig.signedIn('admin', '/configuration')
    await admin.getByRole('link', { name: /^Configuration [0-9a-f]{8}$/ }).waitFor()
    await admin.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Closures' }).waitFor()
    await change(admin)
    await admin.getByRole('button', { name: 'Reload configuration' }).click()
    await link(admin).waitFor()

    const viewer = await rig.signedIn('viewer', '/account')
    await viewer.clock.install()
    await viewer.reload()
    await viewer.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Closures' }).waitFor()
    await change(viewer)
    expect(await link(viewer).count()).to.equal(0)
    await viewer.clock.fastForward(30_000)
    await link(viewer).waitFor()
  })

  it('are found in the palette', async () => {
    const page = await rig.signedIn('viewer', '/account')
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /Search/ }).fill('closures')
    await page.getByRole('option', { name: /^Closures/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Closures' }).waitFor()
  })

  it('keep whatever their rows hold text', async () => {
    for (const [at, { text }] of payloads.entries()) await make(`text-${at}`, { reason: text.slice(0, 400) })
    const watch = await watched(await rig.signedIn('admin', '/account'), rig.gateway.url)
    for (const [at, { text }] of payloads.entries()) {
      await watch.page.goto(`/pages/closure/text-${at}`)
      await reads(watch.page.getByRole('region', { name: 'Facts' }), [text.trim().slice(0, 20)], () => {})
      expect(await watch.findings(), text).to.deep.equal([])
    }
  })
})
