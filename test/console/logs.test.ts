import { expect } from 'chai'
import type { Page, Request } from 'playwright-core'
import { chatAnswer, chatFrames } from '../service/streams.ts'
import { password } from '../support/admin.ts'
import { until } from '../support/until.ts'
import { keysOf } from '../support/keys.ts'
import { tablesOf } from '../support/tables.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { rowWith } from '../admin/logs/rig.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

const hostile = '<img/src=x/onerror=alert(1)>'

describe('console/logs', () => {
  let rig: SignedInRig
  let upstream: ScriptedUpstream
  before(async function () {
    upstream = await scriptedUpstream()
    const at = { type: 'compatible', base_url: upstream.url, api_key: 'unused', allow_private: true }
    rig = await startConsole(this, {
      providers: [{ name: 'reed', ...at }],
      models: [{ name: 'reed-large', provider: 'reed', pricing: { input: 1000, output: 2000 } }],
      server_config: { resilience: { retries: { tries: 1 } } },
    })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(async () => {
    await rig?.close()
    await upstream.close()
  })

  const table = (page: Page) => page.getByRole('table', { name: 'Requests' })
  const rows = (page: Page) => table(page).locator('tbody tr[aria-rowindex]')
  /** A list that is loaded anew is empty for a moment. */
  const counted = (page: Page, count: number) => until(async () => (await rows(page).count()) === count)
  const isList = ({ pathname }: URL) => pathname === '/api/logs'
  const ask = (more: object = {}, headers?: Record<string, string>) =>
    rig.gateway.post(
      '/v1/chat/completions',
      { model: 'reed-large', messages: [{ role: 'user', content: 'hi' }], ...more },
      headers,
    )

  /** As if another tab came in front of it, or went. */
  const show = (page: Page, state: 'visible' | 'hidden') =>
    page.evaluate(
      `Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' })
      document.dispatchEvent(new Event('visibilitychange'))`,
    )

  it('says that there is nothing in the range, and names filters as the reason', async () => {
    const page = await rig.signedIn('admin', '/logs')
    await page.getByText('No requests in this range.').waitFor()
    expect(await axe(page)).to.deep.equal([])
    await page.goto('/logs?status=5xx')
    await page.getByText('No requests in this range match the filters.').waitFor()
    await page.getByRole('button', { name: 'Clear all' }).click()
    await page.getByText('No requests in this range.').waitFor()
    expect(new URL(page.url()).search).to.equal('')
  })

  it('shows what was asked, and filters that stand in the address', async () => {
    upstream.answer({ body: chatAnswer }, { frames: chatFrames('Hello') }, { status: 503, body: { error: {} } })
    expect((await ask()).status).to.equal(200)
    await (await ask({ stream: true })).text()
    await ask()
    await rig.gateway.rows(3)
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.signedIn('admin', '/logs', { theme })
      await rows(page).nth(2).waitFor()
      await page
        .getByRole('img', { name: /^Requests by outcome, last 24 hours, 3 in all, 2 completed, 1 failed/ })
        .waitFor()
      expect(await axe(page)).to.deep.equal([])
    }
    const page = await rig.signedIn('admin', '/logs')
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('combobox', { name: 'Value' }).fill('5xx')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Remove filter: Status is 5xx' }).waitFor()
    await counted(page, 1)
    await page.reload()
    await page.getByRole('img', { name: /, 1 in all, 1 failed/ }).waitFor()
    await counted(page, 1)
    expect(new URL(page.url()).search).to.equal('?status=5xx')
    await page.getByRole('button', { name: 'Table', exact: true }).click()
    expect(new URL(page.url()).searchParams.get('charts')).to.equal('table')
    await page.getByRole('table', { name: 'Requests by outcome' }).waitFor()
  })

  it('shows nobody the rows of a member who signed out before', async () => {
    const page = await rig.signedIn('admin', '/logs')
    await rows(page).first().waitFor()
    await page.getByRole('button', { name: 'Account admin' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('Username').fill('viewer')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    // What stands on the page before the gateway answers was held.
    const answer = Promise.withResolvers<void>()
    await page.route(isList, async (route) => {
      await answer.promise
      await route.fallback()
    })
    const asked = page.waitForRequest((request) => isList(new URL(request.url())))
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Logs' }).click()
    await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor()
    await asked
    expect(await rows(page).count()).to.equal(0)
    const answered = page.waitForResponse((response) => isList(new URL(response.url())))
    answer.resolve()
    expect((await answered).status()).to.equal(200)
  })

  it('has a chart that keys move through, whose legend isolates, and whose drag sets the range', async () => {
    // By the hour: what was asked in two minutes stands in one place.
    const page = await rig.signedIn('admin', '/logs?range=30d&live=0')
    const chart = page.getByRole('region', { name: 'Requests by outcome' })
    const picture = chart.getByRole('img')
    await picture.locator('canvas').waitFor()
    await picture.focus()
    await page.keyboard.press('End')
    await chart
      .getByRole('status')
      .getByText(/completed 2, client left 0, refused 0, failed 1$/)
      .waitFor()
    await page.keyboard.press('ArrowLeft')
    await chart
      .getByRole('status')
      .getByText(/completed 0, .*failed 0$/)
      .waitFor()
    await page.keyboard.press('Escape')
    await until(async () => (await chart.getByRole('status').innerText()) === '')
    await chart.getByRole('button', { name: 'failed' }).click()
    await picture.focus()
    await page.keyboard.press('End')
    await chart
      .getByRole('status')
      .getByText(/failed 1$/)
      .waitFor()
    expect(await chart.getByRole('status').innerText()).not.to.contain('completed')
    const over = picture.locator('.u-over')
    const { x, y, width, height } = (await over.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width, y + height / 2, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/since=.*until=/)
    const search = new URL(page.url()).searchParams
    const length = Date.parse(search.get('until') ?? '') - Date.parse(search.get('since') ?? '')
    expect(length / 86_400_000).to.be.within(12.5, 17.5)
    await picture.locator('canvas').waitFor()
    await over.dblclick()
    await page.waitForURL((url) => url.searchParams.get('range') === '30d')
  })

  it('shows new rows that match the filters, and none while it is paused', async () => {
    const page = await rig.signedIn('admin', '/logs?result=completed')
    await rows(page).nth(1).waitFor()
    upstream.answer({ status: 503, body: { error: {} } }, { body: chatAnswer })
    await ask()
    await ask()
    await rows(page).nth(2).waitFor()
    expect(await table(page).locator('td[title^="503"]').count()).to.equal(0)
    await page.getByRole('button', { name: 'Live' }).click()
    await page.getByRole('button', { name: 'Paused' }).waitFor()
    await ask()
    await rig.gateway.rows(6)
    expect(await rows(page).count()).to.equal(3)
    await page.getByRole('button', { name: 'Paused' }).click()
    await rows(page).nth(3).waitFor()
  })

  it('says how many rows a slow page has missed', async () => {
    const page = await rig.signedIn('admin', '/account')
    await page.route('**/api/logs/tail*', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: 'event: gap\ndata: {"dropped":120}\n\n' }),
    )
    await page.getByRole('link', { name: 'Logs', exact: true }).click()
    await page.getByText('120 rows were not shown.').first().waitFor()
    await page.getByRole('button', { name: /^Reconnecting/ }).waitFor()
  })

  it('keeps what it said was missed beside what is missed after coming back', async () => {
    const page = await rig.signedIn('admin', '/account')
    let isTold = false
    await page.route('**/api/logs/tail*', async (route) => {
      if (isTold) return
      isTold = true
      await route.fulfill({ contentType: 'text/event-stream', body: 'event: gap\ndata: {"dropped":120}\n\n' })
    })
    const missed = page.getByText('120 rows were not shown.')
    await page.getByRole('link', { name: 'Logs', exact: true }).click()
    await missed.waitFor()
    isTold = false
    await page.getByRole('link', { name: 'Quick start' }).click()
    await page.getByRole('heading', { level: 1, name: 'Quick start' }).waitFor()
    await page.getByRole('link', { name: 'Logs', exact: true }).click()
    await missed.nth(1).waitFor()
    await page.close()
  })

  it('follows no rows while it is hidden, and catches up when it is shown', async () => {
    for (const [path, more] of [
      ['/logs', {}],
      // Of a list without rows, no row is known from which to go on.
      ['/logs?requested=only-here', { model: 'only-here' }],
    ] as const) {
      const page = await rig.signedIn('admin', '/account')
      const tails = new Set<Request>()
      page.on('request', (request) => void (request.url().includes('/api/logs/tail') && tails.add(request)))
      page.on('requestfailed', (request) => void tails.delete(request))
      await page.goto(path)
      await until(() => Promise.resolve(tails.size === 1))
      const before = await rows(page).count()
      await show(page, 'hidden')
      await until(() => Promise.resolve(tails.size === 0))
      const all = (await rig.gateway.rows()).length
      upstream.answer({ body: chatAnswer })
      await ask(more)
      await rig.gateway.rows(all + 1)
      expect(await rows(page).count()).to.equal(before)
      await show(page, 'visible')
      await rows(page).nth(before).waitFor()
      expect(tails.size).to.equal(1)
      await page.close()
    }
  })

  it('shows viewers the requests of their own keys alone', async () => {
    const { gateway } = rig
    const own = await keysOf(gateway.engine).create({ name: hostile, owner: gateway.viewer.id })
    upstream.answer({ body: chatAnswer })
    expect((await ask({}, { authorization: `Bearer ${own.text}` })).status).to.equal(200)
    await gateway.rows(7)
    const page = await rig.signedIn('viewer', '/logs')
    await table(page).getByText(hostile).waitFor()
    expect(await rows(page).count()).to.equal(1)
    expect(await table(page).locator('img').count()).to.equal(0)
    // What an admin's link filters by can be seen, and taken off.
    await page.goto('/logs?member=somebody')
    await page.getByText('No requests in this range match the filters.').waitFor()
    await page.getByRole('button', { name: 'Remove filter: Member is somebody' }).click()
    await table(page).getByText(hostile).waitFor()
    await page.getByRole('button', { name: 'Add filter' }).click()
    const fields = await page.getByRole('combobox', { name: 'Field' }).locator('option').allInnerTexts()
    expect(fields).to.include('Key').and.not.include('Member')
  })

  it('says why rows could not be shown, and tries again', async () => {
    const page = await rig.signedIn('admin', '/account')
    const broken = { status: 500, json: { error: { message: 'It broke.', code: 'internal_error', param: null } } }
    await page.route(/\/api\/logs(\?|\/series)/, (route) => route.fulfill(broken))
    await page.getByRole('link', { name: 'Logs', exact: true }).click()
    await page.getByRole('alert').getByText('It broke.').nth(1).waitFor()
    await page.unroute(/\/api\/logs(\?|\/series)/)
    await page.getByRole('button', { name: 'Retry' }).last().click()
    await rows(page).first().waitFor()
    expect(rig.complaints().filter((line) => !line.includes('status of 500'))).to.deep.equal([])
  })

  it('filters by the value of a cell, from its menu', async () => {
    const page = await rig.signedIn('admin', '/logs?live=0')
    const menu = page.getByRole('menu')
    const failed = rows(page)
      .filter({ has: page.locator('td[title^="502"]') })
      .first()
    await failed.getByRole('cell', { name: '502' }).click({ button: 'right' })
    expect(await menu.getByRole('menuitem').allInnerTexts()).to.deep.equal([
      'Filter for: Status is 502',
      'Leave out: Status is 502',
    ])
    expect(await axe(page)).to.deep.equal([])
    await menu.getByRole('menuitem', { name: 'Filter for' }).click()
    await page.getByRole('button', { name: 'Remove filter: Status is 502' }).waitFor()
    expect(new URL(page.url()).searchParams.getAll('status')).to.deep.equal(['502'])

    // By keyboard, the menu of a row has all its cells.
    await page.getByRole('button', { name: 'Clear all' }).click()
    await rows(page).nth(2).waitFor()
    const link = failed.getByRole('link')
    await link.focus()
    await page.keyboard.press('Shift+F10')
    await menu.getByRole('menuitem', { name: 'Filter for: Model is reed-large' }).waitFor()
    await page.locator('[role=menuitem]:focus').waitFor()
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'detached' })
    expect(await link.evaluate((one) => one === one.ownerDocument.activeElement)).to.equal(true)
    await page.keyboard.press('ContextMenu')
    await page.locator('[role=menuitem]:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove filter: Type is chat' }).waitFor()
  })

  it('leaves out the value of a cell, from its menu, and what the form of filters names', async () => {
    const added = [200, 502, 404, 200, 502].map((status, index) =>
      rowWith(`left-out-${index}`, {
        at: Date.now(),
        model: 'left-out',
        status,
        result: status === 200 ? 'completed' : 'failed',
      }),
    )
    await tablesOf(rig.gateway.engine.database).insertInto('requests').values(added).execute()
    const rest = added.filter(({ status }) => status === 200).length
    const page = await rig.signedIn('admin', '/logs?live=0&model=left-out&not_status=4xx')
    const failed = rows(page).filter({ has: page.locator('td[title^="502"]') })
    await failed.first().waitFor()
    await counted(page, rest + (await failed.count()))
    await failed.first().getByRole('cell', { name: '502' }).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Leave out: Status is 502' }).click()
    await page.getByRole('button', { name: 'Remove filter: Status is not 502' }).waitFor()
    await failed.first().waitFor({ state: 'detached' })
    await counted(page, rest)
    const of = new RegExp(`^Requests by outcome, last 24 hours, ${rest} in all, ${rest} completed`)
    await page.getByRole('img', { name: of }).waitFor()

    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('combobox', { name: 'Condition' }).selectOption('is not')
    await page.getByRole('combobox', { name: 'Value' }).fill('2xx')
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('No requests in this range match the filters.').waitFor()
    expect(new URL(page.url()).searchParams.getAll('not_status')).to.deep.equal(['4xx', '502', '2xx'])

    await page.getByRole('button', { name: 'Remove filter: Status is not 2xx' }).click()
    await rows(page).first().waitFor()
    await page.getByRole('button', { name: 'Clear all' }).click()
    await failed.first().waitFor()
    expect(new URL(page.url()).searchParams.has('not_status')).to.equal(false)
  })

  it('hides what judges and tests ask, and no type that it does not know', async () => {
    const of = (type: string) => rowWith(`of-${type}`, { at: Date.now(), type, requested: `a ${type}`, model: 'typed' })
    const added = ['judge', 'test', 'house'].map(of)
    await tablesOf(rig.gateway.engine.database).insertInto('requests').values(added).execute()
    const page = await rig.signedIn('admin', '/logs?live=0&model=typed')
    await rows(page).getByText('house').first().waitFor()
    expect(await rows(page).count()).to.equal(1)
    await page.goto('/logs?live=0&model=typed&type=judge&type=test')
    await rows(page).nth(1).waitFor()
    expect(await rows(page).getByText('house').count()).to.equal(0)
  })

  it('keeps which columns are shown and their order, which keys change', async () => {
    const page = await rig.signedIn('admin', '/logs?live=0')
    const heads = () => table(page).getByRole('columnheader').allInnerTexts()
    await rows(page).first().waitFor()
    const usual = await heads()
    expect(usual.slice(0, 4)).to.deep.equal(['Time', 'What', 'Model', 'Status'])
    await page.getByRole('button', { name: 'Columns' }).click()
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('checkbox', { name: 'Tokens' }).press('Space')
    await page.getByRole('checkbox', { name: 'Error' }).press('Space')
    const up = page.getByRole('button', { name: 'Move Model up' })
    for (let times = 0; times < 3; times += 1) await up.press('Enter')
    await page.locator('button:focus').and(up).waitFor()
    const chosen = ['Time', 'Model', 'What', 'Status', 'Key', 'Error', 'First byte', 'Took', 'Cost']
    expect(await heads()).to.deep.equal(chosen)
    await page.reload()
    await rows(page).first().waitFor()
    expect(await heads()).to.deep.equal(chosen)
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('button', { name: 'Reset columns' }).click()
    expect(await heads()).to.deep.equal(usual)
  })

  it('copies what it asked as a command, in which the session is a variable', async () => {
    const page = await rig.signedIn('admin', "/logs?live=0&range=1h&model=reed'large&status=5xx&status=429")
    await page.getByRole('button', { name: 'CSV' }).click()
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
    await until(async () => (await copied()).startsWith('curl'))
    const command = await copied()
    const [address, header] = command.split(' \\\n  -H ')
    expect(header).to.equal('"authorization: Bearer $SLUICE_TOKEN"')
    expect(address).to.match(/^curl 'http.+\/api\/logs\?status=5xx&status=429&model=reed%27large&.*since=20/)
    const { status } = await fetch(address?.slice('curl '.length).replaceAll("'", '') ?? '', {
      headers: { authorization: `Bearer ${rig.gateway.admin.token}` },
    })
    expect(status).to.equal(200)
  })

  it('loads long lists by the page, and keeps only rows in view in the document', async () => {
    const now = Date.now()
    // The newest is written last, as it always is: the tail goes on behind it.
    const many = Array.from({ length: 1300 }, (_, index) =>
      rowWith(`long-${index}`, {
        at: now - (1300 - index) * 1000,
        requested: 'long',
        model: 'long',
        pipeline: 'chat-completions',
      }),
    )
    for (let from = 0; from < many.length; from += 100)
      await tablesOf(rig.gateway.engine.database)
        .insertInto('requests')
        .values(many.slice(from, from + 100))
        .execute()
    const page = await rig.signedIn('admin', '/account')
    const asked: string[] = []
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/logs') asked.push(request.url())
    })
    await page.getByRole('link', { name: 'Logs', exact: true }).click()
    await rows(page).first().waitFor()
    expect(asked).to.have.length(1)
    const region = page.getByRole('group', { name: 'Requests' })
    for (let loaded = 100; loaded < 1200; loaded += 100) {
      await until(async () => (await region.evaluate(({ scrollHeight }) => scrollHeight)) > loaded * 32)
      await region.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    }
    await page.locator('table[aria-rowcount="-1"]').waitFor()
    expect(await rows(page).count()).to.be.lessThan(80)
    await page.keyboard.press('j')
    expect(await page.locator(':focus').getAttribute('href')).to.match(/^\/logs\//)

    // Who opens a row and comes back finds the list where it was, with what came while it was open.
    await region.evaluate((element) => element.scrollTo(0, 0))
    upstream.answer({ body: chatAnswer })
    await ask()
    await rows(page).first().getByText('reed-large').waitFor()
    await region.evaluate((element) => element.scrollTo(0, 20_000))
    await rows(page).getByText('long').nth(20).waitFor()
    const inView = rows(page).nth(14).getByRole('link')
    const href = await inView.getAttribute('href')
    const before = await inView.boundingBox()
    await inView.click()
    await page.getByRole('heading', { level: 1, name: /^Request/ }).waitFor()
    await page.goBack()
    const again = page.locator(`a[href="${href}"]`)
    await again.waitFor()
    expect(await region.evaluate(({ scrollTop }) => scrollTop)).to.be.closeTo(20_000, 1)
    expect((await again.boundingBox())?.y).to.be.closeTo(before?.y ?? 0, 1)

    // Also where the list has to be loaded again.
    await region.evaluate((element) => element.scrollTo(0, 1500))
    await rows(page).getByText('long').nth(20).waitFor()
    await rows(page).nth(14).getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: /^Request/ }).waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: /^Request/ }).waitFor()
    await page.goBack()
    await rows(page).first().waitFor()
    expect(await region.evaluate(({ scrollTop }) => scrollTop)).to.be.closeTo(1500, 1)
    upstream.answer({ body: chatAnswer })
    await ask()
    await page.getByRole('button', { name: '1 new row' }).click()
    await rows(page).first().getByText('reed-large').waitFor()
    expect(await region.evaluate(({ scrollTop }) => scrollTop)).to.equal(0)
    await region.and(page.locator(':focus')).waitFor()
  })
})
