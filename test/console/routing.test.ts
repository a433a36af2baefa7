import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'
import { pictured } from './support/pictured.ts'
import { prompts, startRouted } from './support/routed.ts'
import type { RoutedRig } from './support/routed.ts'

const themes = ['light', 'dark'] as const

describe('console/routing', () => {
  let rig: RoutedRig
  let ids: readonly string[]
  before(async function () {
    rig = await startRouted(this)
    ids = await rig.traffic([...prompts, ...prompts, ...prompts])
    for (const [at, signal] of ['weak', 'weak', 'ok', 'strong', 'ok', 'ok'].entries())
      await rig.gateway.asAdmin('POST /api/me/feedback', { request_id: ids[at], signal })
    await rig.gateway.engine.flush()
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  for (const theme of themes)
    it(`lists decisions, and shows why each went where it went: ${theme}`, async () => {
      const page = await rig.signedIn('admin', '/routing', { theme })
      await page.getByRole('heading', { level: 1, name: 'Routing' }).waitFor()
      const names = await page.getByRole('tab').allTextContents()
      expect(names).to.deep.equal(['Decisions', 'Settings', 'Experience', 'Judge', 'Export'])
      await page
        .getByRole('img', { name: /^Complexity of 6 requests for auto: \d SIMPLE, \d MEDIUM, \d COMPLEX$/ })
        .waitFor()
      const models = page.getByRole('table', { name: 'Share and savings per model' })
      const counts = await models.getByRole('row').locator('td:first-of-type').allTextContents()
      expect(counts.reduce((sum, text) => sum + Number(text), 0)).to.equal(18)
      const table = page.getByRole('table', { name: 'Decisions' })
      expect(await table.getByRole('row').count()).to.equal(19)
      await table.getByRole('link').first().click()
      await page.waitForURL((url) => url.searchParams.get('decision') === ids.at(-1))
      const decision = page.getByRole('region', { name: 'Decision' })
      await decision.getByRole('heading', { name: /^Why (small|mid|large)$/ }).waitFor()
      await decision.getByRole('button', { name: 'Too strong' }).waitFor()
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `decisions-${theme}`)
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.getByRole('button', { name: 'Back to the preview' }).click()
      await page.getByRole('textbox', { name: 'Prompt' }).waitFor()
      await table.getByRole('link').nth(1).press('Enter')
      await page.waitForURL((url) => url.searchParams.get('decision') === ids.at(-2))
      await page.keyboard.press('Escape')
      await page.getByRole('textbox', { name: 'Prompt' }).waitFor()
      expect(new URL(page.url()).search).to.equal('')
    })

  it('tells unknown costs and unknown savings apart', async () => {
    const page = await rig.signedIn('admin', '/account')
    const { body } = await rig.gateway.asAdmin('GET /api/routing/decisions?limit=3')
    const rows = (body['data'] as readonly JsonObject[]).map((row, index) => ({
      ...row,
      served: 'mid',
      cost: index === 0 ? null : 0.25,
      savings: null,
    }))
    await page.route('**/api/routing/decisions?*', (route) => route.fulfill({ json: { data: rows } }))
    await page.getByRole('link', { name: 'Routing', exact: true }).click()
    const models = page.getByRole('table', { name: 'Share and savings per model' })
    const cells = models.getByRole('row', { name: /^mid/ }).getByRole('cell')
    await cells.last().waitFor()
    expect((await cells.allInnerTexts()).slice(-2)).to.deep.equal([
      `$${0.25 * (rows.length - 1)} 1 unpriced`,
      `unknown ${rows.length} unpriced`,
    ])
  })

  it('previews a prompt without asking any model', async () => {
    const before = rig.upstream.requests.length
    const page = await rig.signedIn('admin', '/routing')
    await page.getByRole('radio', { name: 'best' }).click()
    await page.getByRole('textbox', { name: 'Prompt' }).fill('Prove that <b>there</b> are infinitely many primes.')
    await page.getByRole('button', { name: 'Preview' }).click()
    const decision = page.getByRole('region', { name: 'Decision' })
    await decision.getByRole('img', { name: /^Complexity 0\.\d\d, tier/ }).waitFor()
    await decision.getByText('The judge would be asked.').waitFor()
    await decision.getByText(/^Benefit [.\d]+: /).waitFor()
    await decision.getByText('best →').waitFor()
    expect(await decision.getByRole('table', { name: 'Candidates' }).getByRole('rowheader').count()).to.equal(3)
    expect(rig.upstream.requests).to.have.length(before)
    expect((await rig.gateway.rows()).filter(({ type }) => type === 'chat')).to.have.length(ids.length)
    await pictured(page, 'preview')
  })

  for (const theme of themes)
    it(`tries settings on a prompt and on the latest requests before they are saved: ${theme}`, async () => {
      const page = await rig.signedIn('admin', '/routing?tab=settings', { theme })
      const preview = page.getByRole('region', { name: 'Decision' })
      await page.getByRole('textbox', { name: 'Prompt' }).fill('Sort a list of numbers in Python.')
      await page.getByRole('button', { name: 'Preview' }).click()
      await preview.getByText('The judge would be asked.').waitFor()
      await page.getByRole('switch', { name: /^On Whether the judge is asked/ }).uncheck({ force: true })
      await page.getByRole('button', { name: 'Preview' }).click()
      await preview.getByText('The judge would not be asked.').waitFor()
      for (const name of ['Weight of quality', 'Quality gate'])
        for (const mode of ['fast', 'auto', 'best'])
          await page.getByRole('group', { name }).getByRole('textbox', { name: mode }).fill('1')
      await page.getByRole('button', { name: 'Replay the last 200 requests' }).click()
      const { body: routed } = await rig.gateway.asAdmin('GET /api/routing/decisions?limit=200')
      const { length } = routed['data'] as readonly JsonObject[]
      await page.getByText(new RegExp(`^\\d+ of ${length} would go elsewhere$`)).waitFor()
      const rows = page.getByRole('table', { name: 'Replay' }).getByRole('row')
      expect(await rows.count()).to.equal(length + 1)
      await rows.nth(1).getByText('large').first().waitFor()
      await page.getByText('6 changes').waitFor()
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `settings-${theme}`)
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.getByRole('tab', { name: 'Judge' }).click()
      await page.getByRole('tab', { name: 'Settings' }).click()
      await page.getByText('6 changes').waitFor()
      const { body } = await rig.gateway.asAdmin('GET /api/config/server/smart_routing')
      expect(body).to.include({ version: 1 })
    })

  it('saves settings after a look at what changes', async () => {
    const page = await rig.signedIn('admin', '/routing?tab=settings')
    await page.getByRole('group', { name: 'Continuity' }).getByRole('textbox', { name: 'Bonus' }).fill('0.07')
    await page.getByText('1 change').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('0.07').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('1 change').first().waitFor({ state: 'hidden' })
    const { body } = await rig.gateway.asAdmin('GET /api/config/server/smart_routing')
    expect(body['values']).to.deep.include({ continuity: { bonus: 0.07 } })
  })

  it('asks about settings that were typed where another tab is shown, and saves none of them there', async () => {
    const page = await rig.signedIn('admin', '/routing?tab=settings')
    const bonus = page.getByRole('group', { name: 'Continuity' }).getByRole('textbox', { name: 'Bonus' })
    await bonus.fill('0.09')
    await page.getByRole('tab', { name: 'Judge' }).click()
    await page.getByRole('region', { name: 'In shadow' }).waitFor()
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('Control+s')
    expect(await page.locator('dialog').count()).to.equal(0)
    const logs = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Logs' })
    const leaving = page.getByRole('dialog', { name: 'Leave without saving?' })
    await logs.click()
    await leaving.getByRole('button', { name: 'Stay' }).click()
    await leaving.waitFor({ state: 'detached' })
    await page.getByRole('tab', { name: 'Settings' }).click()
    expect(await bonus.inputValue()).to.equal('0.09')
    await bonus.press('Control+s')
    await page.getByRole('dialog', { name: '1 change' }).getByRole('button', { name: 'Cancel' }).press('Control+s')
    expect(await page.locator('dialog').count()).to.equal(1)
    await page.keyboard.press('Escape')
    await bonus.and(page.locator(':focus')).waitFor()
    await page.getByRole('tab', { name: 'Judge' }).click()
    await logs.click()
    await leaving.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor()
  })

  for (const theme of themes)
    it(`shows what was learned, and forgets it when its name is typed: ${theme}`, async () => {
      const page = await rig.signedIn('admin', '/routing?tab=experience', { theme })
      const table = page.getByRole('table', { name: 'What was learned of each model' })
      await table
        .getByRole('img', { name: /: mean 0\.\d\d, 90 % between 0?\.?\d/ })
        .first()
        .waitFor()
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `experience-${theme}`)
      if (theme === 'light') return
      await page.setViewportSize({ width: 1280, height: 800 })
      const row = table.getByRole('rowheader', { name: /^(small|mid|large)$/ }).first()
      const model = (await row.textContent()) ?? ''
      await page.getByRole('button', { name: `Reset ${model}` }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox', { name: `Type ${model} to confirm` }).fill(model)
      await dialog.getByRole('button', { name: /^Delete/ }).click()
      await dialog.waitFor({ state: 'hidden' })
      await table.getByRole('rowheader', { name: model, exact: true }).waitFor({ state: 'hidden' })
      const { body } = await rig.gateway.asAdmin('GET /api/routing/experience')
      const left = body['data'] as readonly { readonly model: string }[]
      expect(left.filter((one) => one.model === model)).to.deep.equal([])
    })

  for (const theme of themes)
    it(`compares the judge with the signals: ${theme}`, async () => {
      const page = await rig.signedIn('admin', '/routing?tab=judge', { theme })
      const matrix = page.getByRole('region', { name: 'In shadow' })
      await matrix.getByText(/^agrees in .* of \d+$/).waitFor()
      expect(await matrix.getByRole('cell').count()).to.equal(9)
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `judge-${theme}`)
    })

  for (const theme of themes)
    it(`exports what can be learned from, with its progress: ${theme}`, async () => {
      const page = await rig.signedIn('admin', '/routing?tab=export', { theme })
      await page.getByRole('radio', { name: 'Rated' }).click()
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download' }).click()
      const file = await download
      expect(file.suggestedFilename()).to.equal('routing-feedback.ndjson')
      const lines: string[] = []
      for await (const chunk of await file.createReadStream()) lines.push(String(chunk))
      const rows = lines
        .join('')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { readonly id: string })
      expect(rows.map(({ id }) => id)).to.deep.equal(ids.slice(0, 6))
      await page
        .getByRole('status')
        .getByText(/^6 rows, .* saved as/)
        .waitFor()
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `export-${theme}`)
    })

  it('says which gate took a model from a key', async () => {
    const page = await rig.signedIn('admin', '/routing')
    await page.getByRole('textbox', { name: 'Prompt' }).fill('Hello')
    await page.getByRole('combobox', { name: 'Key' }).fill('narrow')
    await page.getByRole('option', { name: 'narrow' }).click()
    await page.getByRole('button', { name: 'Preview' }).click()
    const candidates = page.getByRole('region', { name: 'Decision' }).getByRole('table', { name: 'Candidates' })
    const excluded = candidates.getByRole('row', { name: /out: the allowlist of the key/ })
    await excluded.first().waitFor()
    expect(await excluded.getByRole('rowheader').allTextContents()).to.have.members(['small', 'mid'])
    expect(await candidates.getByRole('rowheader').first().textContent()).to.equal('large')
  })

  it('says how to keep votes where a row has none', async () => {
    await rig.gateway.asAdmin('PATCH /api/config/server/smart_routing', { diagnostics: false })
    const [id] = await rig.traffic(['Hello'])
    const page = await rig.signedIn('admin', `/routing?decision=${id}`)
    const decision = page.getByRole('region', { name: 'Decision' })
    await decision.getByText('Votes, scores and excluded models were not kept.').waitFor()
    await decision.getByRole('link', { name: 'Routing settings' }).click()
    await page.getByRole('switch', { name: /^Diagnostics/ }).waitFor()
    await page.goto('/routing?decision=unknown')
    await page.getByRole('alert').getByText('There is no request "unknown" in the log.').waitFor()
    expect(rig.complaints().every((complaint) => complaint.includes('404'))).to.equal(true)
  })

  it('says what failed, and tries again', async () => {
    const page = await rig.signedIn('admin', '/account')
    const refuse = { status: 500, json: { error: { message: 'It broke.', code: 'internal_error' } } }
    await page.route('**/api/routing/**', (route) => route.fulfill(refuse))
    for (const tab of ['decisions', 'experience', 'judge']) {
      await page.goto(`/routing?tab=${tab}`)
      await page.getByRole('alert').getByText('It broke.').first().waitFor()
    }
    await page.unroute('**/api/routing/**')
    await page.getByRole('button', { name: 'Retry' }).last().click()
    await page.getByRole('region', { name: 'In shadow' }).waitFor()
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('Verdicts held').waitFor()
    expect(rig.complaints().every((complaint) => complaint.includes('500'))).to.equal(true)
  })

  it('is for admins', async () => {
    const page = await rig.signedIn('viewer', '/routing')
    await page.getByText('Only admins see routing.').waitFor()
    expect(await page.getByRole('link', { name: 'Routing' }).count()).to.equal(0)
  })
})

describe('console/routing: without traffic', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this, { server_config: { smart_routing: { enabled: false, seed: 'mine' } } })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  it('says why there is nothing', async () => {
    const page = await rig.signedIn('admin', '/routing')
    await page.getByText('No request was routed in this range.').waitFor()
    await page.getByRole('tab', { name: 'Experience' }).click()
    await page.getByText('Nothing is learned yet.').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByText('The judge has said nothing in this range.').waitFor()
    await page.getByRole('tab', { name: 'Export' }).click()
    await page.getByRole('button', { name: 'Download' }).click()
    await page.getByText('Nothing was rated or judged since then.').waitFor()
  })

  it('says in the words of the gateway that routing is off', async () => {
    const page = await rig.signedIn('admin', '/routing')
    await page.getByRole('textbox', { name: 'Prompt' }).fill('Hello')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('region', { name: 'Decision' }).getByText('needs smart routing, which is off').waitFor()
  })

  it('shows settings of the configuration file as they are, and tries others', async () => {
    const page = await rig.signedIn('admin', '/routing?tab=settings')
    await page.getByText('sluice.yaml:').waitFor()
    await page.getByText('mine').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).count()).to.equal(0)
    await page.getByRole('button', { name: 'Try other values' }).click()
    await page.getByRole('textbox', { name: 'Seed' }).fill('yours')
    expect(await page.getByRole('button', { name: 'Save' }).count()).to.equal(0)
    await page.getByRole('button', { name: 'Replay the last 200 requests' }).click()
    await page.getByText('No request was routed in this range, so there is nothing').waitFor()
    expect(await axe(page)).to.deep.equal([])
  })
})
