import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { tablesOf } from '../support/tables.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { axe, startConsole, sticksOut } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'
import { pictured } from './support/pictured.ts'

const pricing = { input: 1000, output: 2000 }
const broken = {
  status: 500,
  headers: { 'x-request-id': 'req-1' },
  json: { error: { message: 'It broke.', code: 'internal_error', param: null } },
}

interface Cause {
  readonly cause: string
  readonly facts: object
}

describe('console/overview', () => {
  let rig: SignedInRig
  let upstream: ScriptedUpstream
  /** The headers of a key whose budget is that of one request. */
  let tight: Record<string, string>
  let folder: string
  before(async function () {
    upstream = await scriptedUpstream()
    folder = await mkdtemp(join(tmpdir(), 'sluice-overview-'))
    rig = await startConsole(this, {
      folder,
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'reed', type: 'compatible', base_url: upstream.url, api_key: 'unused', allow_private: true },
      ],
      models: [
        { name: 'sable', provider: 'echo', pricing },
        { name: 'reed-large', provider: 'reed', pricing },
      ],
    })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(async () => {
    await rig?.close()
    await upstream.close()
    await rm(folder, { recursive: true })
  })

  const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
  const attention = (page: Page) => region(page, 'Attention')
  /** As if the circuit that is open were those of these models. */
  const circuits = async (page: Page, models: readonly string[]) => {
    await page.route('**/api/config/circuit-breaker', async (route) => {
      const { data } = (await (await route.fetch()).json()) as { readonly data: readonly { readonly state: string }[] }
      const [open] = data.filter(({ state }) => state === 'open')
      await route.fulfill({ json: { data: models.map((model) => ({ ...open, model })) } })
    })
    await page.route('**/api/notifications', async (route) => {
      const answer = (await (await route.fetch()).json()) as { readonly open: readonly Cause[] }
      const open = answer.open.find(({ cause }) => cause === 'circuit') as Cause
      const all = models.map((model) => ({ ...open, subject: `reed / ${model}`, facts: { ...open.facts, model } }))
      await route.fulfill({ json: { ...answer, open: all } })
    })
  }
  const figure = (page: Page, label: string) => region(page, 'Figures').getByRole('link', { name: label })
  const places = (page: Page) => page.getByRole('table', { name: 'Where it goes' })
  const row = (page: Page, name: string) => places(page).getByRole('row').filter({ hasText: name })
  const ask = (model: string, headers = {}) =>
    rig.gateway.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] }, headers)
  const makeKey = async (name: string, owner: string | null, usd: number) => {
    const made = await rig.gateway.asAdmin('POST /api/api-keys', { name, owner, budget: { usd, period: 'month' } })
    expect(made.status).to.equal(201)
    return { authorization: `Bearer ${made.body['key'] as string}` }
  }
  const isMissing = (line: string) => line.includes('status of 500') || line.includes('ERR_CONNECTION_REFUSED')

  it('moves nothing on the page when its parts arrive', async () => {
    const page = await rig.signedIn('admin')
    await page.addInitScript(`globalThis.shift = 0
      new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => { globalThis.shift += value }))
        .observe({ type: 'layout-shift', buffered: true })`)
    await page.reload()
    await region(page, 'Set up Sluice').getByText('Ask a model').waitFor()
    await page.getByText('Nothing was asked for in this range.').waitFor()
    await page.getByText('No key and no member has a budget.').waitFor()
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    expect(await page.evaluate('globalThis.shift')).to.be.below(0.02)
  })

  it('says that there is nothing yet', async () => {
    const page = await rig.signedIn('admin')
    await page.getByText('No requests in this range', { exact: true }).nth(1).waitFor()
    await page.getByText('Nothing was asked for in this range.').waitFor()
    await page.getByText('No provider has been asked since the start.').waitFor()
    await page.getByText('No key and no member has a budget.').waitFor()
    await page.getByRole('img', { name: 'Requests by outcome, last 24 hours, No requests in this range' }).waitFor()
    expect(await attention(page).count()).to.equal(0)
    expect(await axe(page)).to.deep.equal([])
    await pictured(page, 'overview-empty')
    await page.getByRole('button', { name: 'Widen to 7 days' }).first().click()
    await page.getByRole('button', { name: 'Time range: Last 7 days' }).waitFor()
  })

  it('shows what was asked, what it cost and what is wrong', async () => {
    const agents = await makeKey('agents', null, 1)
    expect((await ask('sable', agents)).status).to.equal(200)
    for (let count = 0; count < 3; count++) expect((await ask('sable')).status).to.equal(200)
    upstream.answer(() => ({ status: 503, body: { error: { message: 'overloaded' } } }))
    for (let count = 0; count < 8; count++) await ask('reed-large')
    await rig.gateway.rows(12)
    const page = await rig.signedIn('admin')
    await figure(page, 'Requests').getByText('12', { exact: true }).waitFor()
    await figure(page, 'Requests').getByText('12 per day').waitFor()
    await figure(page, 'Failed').getByText('66.7 %').waitFor()
    await figure(page, 'Failed').getByText('8 of 8 at reed').waitFor()
    expect(await row(page, 'sable').getByRole('cell').allInnerTexts()).to.include.members(['echo', '4', '0 %'])
    expect(await row(page, 'reed-large').getByRole('cell').allInnerTexts()).to.include.members(['reed', '8', '100.0 %'])
    await region(page, 'Providers').getByRole('listitem').filter({ hasText: 'reed-large' }).getByText('open').waitFor()
    await region(page, 'Budgets near their end').getByText('$0.003 of $1.00 a month').waitFor()
    await attention(page).getByText('Circuit open').waitFor()
    await page
      .getByRole('img', { name: /^Requests by outcome, last 24 hours, 12 in all, 4 completed, 8 failed/ })
      .waitFor()
    await page.getByRole('img', { name: /^Time to first byte, last 24 hours, p50 highest .* p99 highest/ }).waitFor()
    await pictured(page, 'overview')
  })

  it('leads from each figure and each row to the requests that make it', async () => {
    const page = await rig.signedIn('admin', '/?range=7d')
    await figure(page, 'Failed').click()
    await page.waitForURL('**/logs?range=7d&result=failed')
    await page.goBack()
    await page.getByRole('radio', { name: 'Provider' }).click()
    await page.waitForURL('**/?range=7d&group=provider')
    await row(page, 'reed').getByRole('cell').nth(1).click()
    await page.waitForURL('**/logs?range=7d&provider=reed')
    await page.goBack()
    await page.getByRole('radio', { name: 'Model' }).click()
    await places(page).getByRole('link', { name: 'sable' }).focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/logs\?range=7d&model=/)
  })

  it('has its charts as tables, too, with what happened', async () => {
    const page = await rig.signedIn('admin')
    await page.getByRole('button', { name: 'Table', exact: true }).first().click()
    await page.waitForURL('**/?charts=table')
    const outcomes = page.getByRole('table', { name: 'Requests by outcome' })
    await outcomes.getByRole('cell', { name: 'circuit of reed / reed-large opened' }).waitFor()
    const cells = await outcomes.getByRole('cell').allInnerTexts()
    // The last column is what happened.
    const sumOf = (column: number) => cells.reduce((sum, cell, at) => sum + (at % 5 === column ? Number(cell) : 0), 0)
    expect([0, 1, 2, 3].map(sumOf)).to.deep.equal([4, 0, 0, 8])
    await page.getByRole('table', { name: 'Time to first byte' }).getByRole('columnheader', { name: 'p99' }).waitFor()
    await page.getByRole('button', { name: 'Table', exact: true, pressed: true }).last().click()
    await page.getByRole('img', { name: /^Time to first byte/ }).waitFor()
  })

  it('reads the values of a chart to those who move through it with arrow keys', async () => {
    const page = await rig.signedIn('admin', '/?range=1h')
    const chart = region(page, 'Requests by outcome')
    await chart.getByRole('img').focus()
    await page.keyboard.press('End')
    await chart
      .getByRole('status')
      .getByText(/\d\d:\d\d, completed \d, client left 0, refused 0, failed \d/)
      .waitFor()
    const last = await chart.getByRole('status').innerText()
    await page.keyboard.press('ArrowLeft')
    await chart.getByRole('status').getByText(last).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await chart.getByText('per minute').waitFor()
  })

  it('breaks no rule of accessibility, and scrolls one way alone, in both themes', async () => {
    for (const theme of ['light', 'dark'] as const)
      for (const path of ['/', '/?charts=table&group=key']) {
        const page = await rig.signedIn('admin', path, { theme })
        await row(page, path === '/' ? 'sable' : 'agents').waitFor()
        await attention(page).getByText('Circuit open').waitFor()
        expect(await axe(page)).to.deep.equal([])
        await page.setViewportSize({ width: 320, height: 800 })
        const rest = await page.locator('html').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
        expect(rest).to.be.at.most(0)
        expect(await sticksOut(page)).to.deep.equal([])
        // Of a circuit, its name is what nobody can do without.
        const names = region(page, 'Providers').getByRole('listitem').getByRole('link')
        const cut = await names.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length)
        expect(cut).to.equal(0)
      }
  })

  it('has a line for three open circuits, and one for all others', async () => {
    const page = await rig.signedIn('admin')
    await attention(page).waitFor()
    const models = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((model) => `reed-${model}`)
    await circuits(page, models)
    await page.keyboard.press('r')
    await attention(page).getByText('6 more providers or models get no requests for now.').waitFor()
    expect(await attention(page).getByText('Circuit open').count()).to.equal(3)
    expect(await region(page, 'Providers').getByRole('listitem').count()).to.equal(8)
    await region(page, 'Providers').getByRole('link', { name: 'All 9 circuits' }).waitFor()
    await attention(page).getByRole('link', { name: 'Show configuration' }).click()
    await page.waitForURL('**/configuration')
  })

  it('finds each open circuit in the palette, and nothing of it under other words', async () => {
    const page = await rig.signedIn('admin')
    await circuits(page, ['reed-mini', 'reed-large'])
    await page.keyboard.press('r')
    await attention(page).getByText('reed / reed-large').waitFor()
    await page.keyboard.press('/')
    const options = page.getByRole('option')
    const field = page.getByRole('combobox', { name: /^Search/ })
    for (const [text, names] of [
      ['breaker of', ['Reset breaker of reed / reed-mini', 'Reset breaker of reed / reed-large']],
      ['switch to', ['Switch to dark']],
    ] as const) {
      await field.fill(text)
      await options.filter({ hasText: names[0] }).waitFor()
      expect((await options.allInnerTexts()).map((one) => one.replace(/\s*Action$/, ''))).to.deep.equal(names)
    }
  })

  it('closes a circuit that is open', async () => {
    const page = await rig.signedIn('admin')
    await attention(page).getByRole('link', { name: 'Show failures' }).first().click()
    await page.waitForURL('**/logs?failed_provider=reed&range=1h')
    // Also requests that another provider answered.
    const requests = page.getByRole('table', { name: 'Requests' }).locator('tbody tr[aria-rowindex]')
    await requests.first().waitFor()
    await attention(page).getByRole('button', { name: 'Reset' }).first().click()
    await page
      .getByRole('status')
      .getByText(/^The circuit of reed.* is closed\.$/)
      .waitFor()
    await attention(page).waitFor({ state: 'detached' })
  })

  it('shows the budgets of keys and members, the one that is nearest to its end first, and leads to them', async () => {
    await rig.gateway.addMember({ username: 'm.klein', budget: JSON.stringify({ usd: 0, period: 'day' }) })
    tight = await makeKey('tight', null, 0.003)
    expect((await ask('sable', tight)).status).to.equal(200)
    await rig.gateway.rows(13)
    const page = await rig.signedIn('admin')
    const budgets = region(page, 'Budgets near their end')
    await budgets.getByRole('link', { name: 'm.klein' }).waitFor()
    expect(await budgets.getByRole('link').allInnerTexts()).to.have.members(['m.klein', 'tight', 'agents'])
    expect(await budgets.getByRole('link').last().innerText()).to.equal('agents')
    await attention(page).getByText('Budgets used up').waitFor()
    expect(await attention(page).getByRole('link').allInnerTexts()).to.deep.equal(['tight'])
    expect(await axe(page)).to.deep.equal([])
    await attention(page).getByRole('link', { name: 'tight' }).click()
    await page.getByRole('heading', { level: 1, name: 'tight' }).waitFor()
  })

  it('marks reloads, resets of circuits, and where budgets began to refuse', async () => {
    await appendFile(join(folder, 'sluice.yaml'), 'server_config: { logging: { level: warn } }\n')
    expect((await rig.gateway.asAdmin('POST /api/config/reload', {})).status).to.equal(200)
    expect((await ask('sable', tight)).status).to.equal(429)
    await rig.gateway.rows(14)
    const page = await rig.signedIn('admin', '/?charts=table')
    const outcomes = page.getByRole('table', { name: 'Requests by outcome' })
    const marks = ['configuration reloaded', 'circuit of reed / reed-large reset', 'budgets began to refuse: 1']
    for (const mark of marks) await outcomes.getByText(mark).waitFor()
  })

  it('shows viewers their own budgets first, and nothing of others', async () => {
    const { viewer } = rig.gateway
    const page = await rig.signedIn('viewer')
    await page.getByText('Nothing was asked for in this range.').waitFor()
    await page.getByText('No budget limits you or your keys.').waitFor()
    const own = await makeKey('mine', viewer.id, 1)
    expect((await ask('sable', own)).status).to.equal(200)
    await rig.gateway.rows(15)
    await page.reload()
    await figure(page, 'Requests').getByText('1', { exact: true }).waitFor()
    await region(page, 'Your budgets').getByRole('link', { name: 'mine' }).waitFor()
    expect(await page.getByRole('radio').allInnerTexts()).to.deep.equal(['Model', 'Provider', 'Key'])
    expect(await places(page).getByRole('link').allInnerTexts()).to.deep.equal(['sable'])
    expect(await region(page, 'Providers').count()).to.equal(0)
    expect(await attention(page).count()).to.equal(0)
    expect(await axe(page)).to.deep.equal([])
    await pictured(page, 'overview-viewer')
  })

  it('says in the place of each part why it could not be shown, and tries again', async () => {
    const page = await rig.signedIn('admin')
    await page.route('**/api/logs/**', (route) => route.fulfill(broken))
    await page.route('**/api/config/circuit-breaker', (route) => route.fulfill(broken))
    await page.reload()
    for (const part of ['Requests by outcome', 'Time to first byte', 'Where it goes', 'Providers'])
      await region(page, part).getByRole('alert').getByText('It broke.').waitFor()
    await page.getByText('req-1').first().waitFor()
    await page.getByRole('link', { name: 'agents' }).waitFor()
    await pictured(page, 'overview-error')
    await page.unroute('**/api/logs/**')
    await region(page, 'Requests by outcome').getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('img', { name: /^Time to first byte/ }).waitFor()
    await page.getByRole('button', { name: 'Retry' }).first().click()
    await figure(page, 'Requests').waitFor()
    await page.close()
    expect(rig.complaints().filter((line) => !isMissing(line))).to.deep.equal([])
  })

  it('says that what it shows is not up to date, and why', async () => {
    const page = await rig.signedIn('admin')
    await row(page, 'sable').waitFor()
    await page.route('**/api/logs/**', (route) => route.fulfill(broken))
    await page.keyboard.press('r')
    const line = attention(page).getByRole('status').filter({ hasText: 'Not up to date' })
    await line.getByText('could not be loaded again: It broke.').waitFor()
    await row(page, 'sable').waitFor()
    expect(await axe(page)).to.deep.equal([])
    await page.unroute('**/api/logs/**')
    await line.getByRole('button', { name: 'Retry' }).click()
    await line.waitFor({ state: 'detached' })
    await page.close()
    expect(rig.complaints().filter((one) => !isMissing(one))).to.deep.equal([])
  })

  it('says that the gateway does not answer, asks again by itself, and shows all that is new then', async () => {
    const page = await rig.signedIn('admin')
    await row(page, 'sable').waitFor()
    await page.route('**/api/**', (route) => route.abort('connectionrefused'))
    await page.keyboard.press('r')
    await attention(page).getByText('The gateway does not answer').waitFor()
    await page.getByRole('button', { name: /^Reconnecting… \d s/ }).waitFor()
    await page.waitForRequest('**/api/health/live')
    await ask('sable')
    await rig.gateway.rows(16)
    await page.unroute('**/api/**')
    await attention(page).getByText('The gateway does not answer').waitFor({ state: 'detached' })
    await row(page, 'sable').getByRole('cell', { name: '7', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
    expect(rig.complaints().filter((line) => !isMissing(line))).to.deep.equal([])
  })

  it('says that the gateway drains, which of its parts do not work, and that the page is old', async () => {
    for (const role of ['admin', 'viewer'] as const) {
      const page = await rig.signedIn(role)
      await figure(page, 'Requests').waitFor()
      await page.route('**/api/health', (route) =>
        route.fulfill({ json: { status: 'draining', draining: true, degraded: ['key_value', 'elsewhere'] } }),
      )
      await page.route('**/api/notifications', (route) =>
        route.fulfill({
          json: {
            open: [
              {
                id: null,
                cause: 'store_down',
                subject: 'The key-value store',
                facts: { store: 'key_value' },
                since: null,
                path: '/configuration',
                said_at: null,
              },
            ],
            targets: [],
          },
        }),
      )
      await page.route(
        ({ pathname }) => pathname === '/',
        (route) => route.fulfill({ body: '<script type="module" src="/assets/app-newbuild.js"></script>' }),
      )
      await page.keyboard.press('r')
      await attention(page).getByText('Draining').waitFor()
      await attention(page).getByText('New version of the console').waitFor()
      expect(await attention(page).getByText('The key-value store does not answer').count()).to.equal(
        role === 'admin' ? 1 : 0,
      )
      expect(await attention(page).getByText('"elsewhere" does not work').count()).to.equal(role === 'admin' ? 1 : 0)
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `overview-attention-${role}`)
      await page.unroute(({ pathname }) => pathname === '/')
      await page.unrouteAll()
      await attention(page).getByRole('button', { name: 'Reload' }).click()
      await attention(page).getByText('New version of the console').waitFor({ state: 'detached' })
    }
  })

  // The trail stays broken.
  it('says that the audit trail is broken, and where', async () => {
    await tablesOf(rig.gateway.engine.database)
      .updateTable('audit')
      .set({ action: 'nothing' })
      .where('sequence', '=', 2)
      .execute()
    const page = await rig.signedIn('admin')
    await attention(page).getByText('first at row 2: column_mismatch').waitFor()
    await attention(page).getByRole('link', { name: 'Show row' }).click()
    await page.waitForURL('**/audit?row=2')
  })
})
