import { expect } from 'chai'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../engine/index.ts'
import { chatAnswer, chatFrames } from '../service/streams.ts'
import { keysOf } from '../support/keys.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { addRows, rowWith } from '../admin/logs/rig.ts'
import { axe, startConsole, sticksOut } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'
import { startRouted } from './support/routed.ts'

const hostile = '<img src=x onerror=alert(1)>'
const busy = { status: 503, body: { error: { message: hostile } } }

describe('console/request', () => {
  let rig: SignedInRig
  let upstream: ScriptedUpstream
  before(async function () {
    upstream = await scriptedUpstream()
    const at = { type: 'compatible', base_url: upstream.url, api_key: 'unused', allow_private: true }
    rig = await startConsole(this, {
      providers: [
        { name: 'reed', ...at },
        { name: 'sable', ...at },
      ],
      models: [
        { name: 'reed-large', provider: 'reed', fallbacks: ['sable-mid'] },
        { name: 'sable-mid', provider: 'sable', pricing: { input: 1000, output: 2000 } },
      ],
      records: { guards: [{ name: 'list', kind: 'words', words: ['onerror'], default: false }] },
      server_config: { logging: { capture: 'all', headers: ['x-team'] }, resilience: { breaker: { enabled: false } } },
    })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(async () => {
    await rig?.close()
    await upstream.close()
  })

  const ask = async (more: object = {}, headers: Record<string, string> = {}) => {
    const messages = [{ role: 'user', content: hostile }]
    const response = await rig.gateway.post(
      '/v1/chat/completions',
      { model: 'reed-large', messages, ...more },
      { 'x-team': hostile, ...headers },
    )
    await response.text()
    const id = response.headers.get('x-request-id') ?? ''
    await rig.gateway.row((row) => row.id === id)
    return id
  }
  const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
  const heading = (page: Page, id: string) => page.getByRole('heading', { level: 1, name: `Request ${id}` })

  it('is opened from its row, and shows what happened, in both themes', async () => {
    upstream.answer(busy, { body: chatAnswer })
    const id = await ask()
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.signedIn('admin', '/logs?result=completed', { theme })
      await page.getByRole('table', { name: 'Requests' }).getByText('reed-large → sable-mid').click()
      await heading(page, id).waitFor()
      expect(new URL(page.url()).pathname + new URL(page.url()).search).to.equal(`/logs/${id}?result=completed`)
      const tries = region(page, 'Tries').getByRole('row')
      expect(await tries.nth(1).innerText()).to.match(/reed-large.*503/s)
      expect(await tries.nth(2).innerText()).to.match(/sable-mid.*200 completed/s)
      await region(page, 'Timeline')
        .getByRole('img', { name: /^Timeline of the request/ })
        .waitFor()
      await region(page, 'Timeline').getByText('attempt 2 · sable-mid').first().waitFor()
      await region(page, 'Tokens and cost')
        .getByRole('row', { name: /^total 13/ })
        .waitFor()
      await region(page, 'Tokens and cost').getByText('$0.017000').waitFor()
      await region(page, 'Decision').getByText('The client named a model').waitFor()
      await page.getByRole('button', { name: 'Paused' }).waitFor()
      expect(await axe(page)).to.deep.equal([])
      await page.setViewportSize({ width: 320, height: 800 })
      expect(await sticksOut(page)).to.deep.equal([])
      await page.goBack()
      await page.getByRole('table', { name: 'Requests' }).waitFor()
    }
  })

  it('shows bodies and headers as text in tabs that the address has', async () => {
    upstream.answer({ frames: chatFrames(hostile, ' there') })
    const id = await ask({ stream: true, model: 'sable-mid' })
    const page = await rig.signedIn('admin', `/logs/${id}`)
    const bodies = region(page, 'Bodies')
    await bodies.getByText(`${hostile} there`).waitFor()
    await region(page, 'Timeline').getByText('until the first byte').first().waitFor()
    await page.getByRole('tab', { name: 'JSON' }).click()
    await bodies.getByRole('region', { name: 'Request' }).getByText('"sable-mid"').waitFor()
    await bodies.getByRole('region', { name: 'Response' }).getByText('[DONE]').waitFor()
    await page.getByRole('tab', { name: 'Headers' }).click()
    await bodies.getByRole('row', { name: `x-team ${hostile}` }).waitFor()
    await page.reload()
    await bodies.getByRole('row', { name: `x-team ${hostile}` }).waitFor()
    expect(new URL(page.url()).search).to.equal('?tab=headers')
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await bodies.getByText('Copied').first().waitFor()
    const command = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(command).to.include(`curl ${rig.gateway.url}/v1/chat/completions`).and.include('$SLUICE_API_KEY')
    expect(command).to.include(`-d '{"model":"sable-mid"`)
    expect(await page.locator('main img').count()).to.equal(0)
  })

  it('shows the size of a request that guards did not let pass, and no command that sends it', async () => {
    const id = await ask({}, { 'x-gateway-guards': 'list' })
    const page = await rig.signedIn('admin', `/logs/${id}?tab=json`)
    const bodies = region(page, 'Bodies')
    const body = bodies.getByRole('region', { name: 'Request' })
    await body.getByText(/^\[\d+ bytes that the guards did not let pass\]$/).waitFor()
    await bodies.getByRole('region', { name: 'Response' }).getByText('content_filter').waitFor()
    expect(await page.getByRole('button', { name: 'Copy as curl' }).count()).to.equal(0)
  })

  it('shows its trace, leads to where that is seen, and the list finds what belongs to it', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c'
    upstream.answer({ body: chatAnswer }, { body: chatAnswer })
    await ask({ model: 'sable-mid' })
    const id = await ask({ model: 'sable-mid' }, { traceparent: `00-${trace}-b7ad6b7169203331-01` })
    const page = await rig.signedIn('admin', `/logs/${id}`)
    const metadata = region(page, 'Metadata')
    await metadata.getByText(trace).waitFor()
    expect(await metadata.getByRole('link', { name: trace }).count()).to.equal(0)
    await metadata.getByRole('button', { name: 'Copy Trace' }).click()
    await until(async () => (await page.evaluate('navigator.clipboard.readText()')) === trace)
    const traces = { url: 'https://traces.example/trace/{trace_id}' }
    expect((await rig.gateway.asAdmin('PATCH /api/config/server/telemetry', { traces })).status).to.equal(200)
    await page.reload()
    const link = metadata.getByRole('link', { name: trace })
    await link.waitFor()
    expect(await link.getAttribute('href')).to.equal(`https://traces.example/trace/${trace}`)
    expect(await link.getAttribute('rel')).to.equal('noreferrer')
    await page.goto(`/logs?trace_id=${trace}`)
    await page.getByRole('button', { name: `Remove filter: Trace is ${trace}` }).waitFor()
    const rows = page.getByRole('table', { name: 'Requests' }).locator('tbody tr[aria-rowindex]')
    await until(async () => (await rows.count()) === 1)
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('combobox', { name: 'Field' }).selectOption('Trace')
  })

  it('says why a request failed, and how to read more about it', async () => {
    upstream.answer({ status: 400, body: { error: { message: hostile } } })
    const id = await ask({ model: 'sable-mid' })
    const page = await rig.signedIn('admin', `/logs/${id}`)
    const failed = region(page, 'What went wrong')
    await failed.getByText(hostile).waitFor()
    await failed.getByText('sluice explain code upstream_rejected').waitFor()
    await region(page, 'Timeline').getByText('attempt 1 · sable-mid').first().waitFor()
    expect(await axe(page)).to.deep.equal([])
  })

  it('steps to the newer and the older request of the same list', async () => {
    upstream.answer({ body: chatAnswer }, { status: 400, body: { error: { message: 'no' } } }, { body: chatAnswer })
    const old = await ask({ model: 'sable-mid' })
    await ask({ model: 'sable-mid' })
    const young = await ask({ model: 'sable-mid' })
    const page = await rig.signedIn('admin', `/logs/${old}?result=completed`)
    await page.getByRole('link', { name: 'newer' }).waitFor()
    await page.keyboard.press('k')
    await heading(page, young).waitFor()
    expect(await page.getByRole('link', { name: 'newer' }).count()).to.equal(0)
    await page.getByRole('link', { name: 'older' }).click()
    await heading(page, old).waitFor()
    expect(new URL(page.url()).search).to.equal('?result=completed')
  })

  it('leads to its path through the pipeline, and to the playground', async () => {
    upstream.answer({ body: chatAnswer })
    const id = await ask({ model: 'sable-mid' })
    const page = await rig.signedIn('admin', `/logs/${id}`)
    await page.getByRole('link', { name: 'Open in playground' }).click()
    await until(async () => (await page.getByRole('textbox', { name: 'Message' }).inputValue()) === hostile)
    expect(await page.getByRole('combobox', { name: 'Model' }).first().inputValue()).to.equal('sable-mid')
    await page.goBack()
    await page.getByRole('link', { name: 'Show on the pipeline' }).click()
    await page.getByRole('tree').waitFor()
    expect(new URL(page.url()).pathname).to.equal('/pipelines/chat-completions')
    expect(new URL(page.url()).searchParams.get('request')).to.equal(id)
  })

  it('says that a model was named, and leads to the playground, where that is true', async () => {
    const at = Date.now()
    const alone = { model: null, provider: null, attempts: 0 }
    await addRows(rig.gateway, [
      rowWith('named', { at, metadata: JSON.stringify({ said: 'so', unsaid: null }) }),
      rowWith('embedded', { at, type: 'embeddings', protocol: 'embeddings' }),
      rowWith('tool', { at, type: 'mcp', protocol: 'mcp', ...alone, requested: null }),
      rowWith('counted', { at, type: 'count_tokens', protocol: 'count-tokens', requested: 'auto', ...alone }),
      rowWith('early', { at, requested: 'auto', ...alone, status: 401, result: 'refused' }),
      rowWith('judged', { at, type: 'judge', protocol: 'decisions', requested: 'jury', model: 'jury' }),
    ])
    const sentence = 'The client named a model, so there was nothing to choose.'
    const isTrue = { named: [1, 1], embedded: [1, 0], tool: [0, 0], counted: [0, 0], early: [0, 1], judged: [0, 0] }
    const page = await rig.signedIn('admin', '/account')
    for (const [id, [named, asks]] of Object.entries(isTrue)) {
      await page.goto(`/logs/${id}`)
      const metadata = region(page, 'Metadata')
      await metadata.getByText(id, { exact: true }).waitFor()
      expect([
        await page.getByText(sentence).count(),
        await page.getByRole('link', { name: 'Open in playground' }).count(),
      ]).to.deep.equal([named, asks], id)
      expect(await metadata.getByText('said', { exact: true }).count()).to.equal(id === 'named' ? 1 : 0)
      expect(await metadata.getByText('null').count()).to.equal(0)
    }
  })

  it('opens long texts by a button, and shows what others wrote as text alone', async () => {
    const content = `begin ${'long '.repeat(20_000)} end`
    upstream.answer({ body: chatAnswer })
    const id = await ask({ model: 'sable-mid', messages: [{ role: 'user', content }] })
    const page = await rig.signedIn('admin', `/logs/${id}`)
    await page.route(`**/api/logs/${id}`, async (route) => {
      const response = await route.fetch()
      const detail = (await response.json()) as JsonObject
      const capture = {
        request: JSON.stringify({ messages: [{ role: 'user', content }] }),
        response: null,
        truncated: false,
      }
      await route.fulfill({ response, json: { ...detail, capture } })
    })
    await page.reload()
    await region(page, 'Bodies')
      .getByText(/^begin/)
      .waitFor()
    expect(await region(page, 'Bodies').getByText(/ end$/).count()).to.equal(0)
    await page.getByRole('button', { name: 'Show all 100 kB' }).click()
    await region(page, 'Bodies').getByText(/ end$/).waitFor()
    // A row as any plugin may have written it.
    const everywhere = { type: hostile, requested: hostile, model: hostile, provider: hostile, reference: hostile }
    const notes = { [hostile]: hostile, losses: [{ field: hostile, because: hostile }], upstream_id: hostile }
    await addRows(rig.gateway, [
      rowWith('bare', { at: Date.now(), ...everywhere, tags: `{"a":"${hostile}"}`, metadata: JSON.stringify(notes) }),
    ])
    await page.goto('/logs/bare')
    await region(page, 'Lost in translation').getByText(hostile).first().waitFor()
    await region(page, 'Metadata').getByText(`a: ${hostile}`).waitFor()
    expect(await page.locator('main img').count()).to.equal(0)
    await region(page, 'Bodies').getByText('Bodies are not kept (Settings → Logging).').waitFor()
  })

  it('shows viewers their own requests alone, without links to what they may not see', async () => {
    const { gateway } = rig
    const foreign = await ask({ model: 'nothing' })
    const own = await keysOf(gateway.engine).create({ name: 'own', owner: gateway.viewer.id })
    upstream.answer({ body: chatAnswer })
    const id = await ask({ model: 'sable-mid' }, { authorization: `Bearer ${own.text}` })
    const page = await rig.signedIn('viewer', `/logs/${id}`)
    await region(page, 'Tries').waitFor()
    expect(await page.getByRole('link', { name: 'Show on the pipeline' }).count()).to.equal(0)
    expect(await axe(page)).to.deep.equal([])
    await page.goto(`/logs/${foreign}`)
    await page.getByRole('alert').getByText(`There is no request "${foreign}" in the log.`).waitFor()
    expect(rig.complaints().filter((line) => !line.includes('status of 404'))).to.deep.equal([])
  })

  it('says why a request could not be shown, and tries again', async () => {
    upstream.answer({ body: chatAnswer })
    const id = await ask({ model: 'sable-mid' })
    const page = await rig.signedIn('admin', '/account')
    const broken = { status: 500, json: { error: { message: 'It broke.', code: 'internal_error', param: null } } }
    await page.route(`**/api/logs/${id}`, (route) => route.fulfill(broken))
    await page.goto(`/logs/${id}`)
    await page.getByRole('alert').getByText('It broke.').waitFor()
    await page.unroute(`**/api/logs/${id}`)
    await page.getByRole('button', { name: 'Retry' }).click()
    await region(page, 'Tries').waitFor()
    expect(rig.complaints().filter((line) => !line.includes('status of 500'))).to.deep.equal([])
  })

  it('shows why a model was chosen, and takes the rating of it', async function () {
    const routed = await startRouted(this)
    try {
      const [id = ''] = await routed.traffic(['Hello'])
      const page = await routed.signedIn('admin', `/logs/${id}`)
      const decision = page.getByRole('region', { name: 'Decision', exact: true })
      await decision.getByText(/^Why /).waitFor()
      await decision.getByRole('button', { name: 'Right' }).click()
      await decision.getByRole('button', { name: 'Right', pressed: true }).waitFor()
      expect(await axe(page)).to.deep.equal([])
      expect(routed.complaints()).to.deep.equal([])
    } finally {
      await routed.close()
    }
  })
})
