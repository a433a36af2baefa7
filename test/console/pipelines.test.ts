import { expect } from 'chai'
import { addRows, rowWith } from '../admin/logs/rig.ts'
import { chatAnswer } from '../service/streams.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { until } from '../support/until.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

type Page = Awaited<ReturnType<SignedInRig['open']>>

describe('console/pipelines', () => {
  let rig: SignedInRig
  let upstream: ScriptedUpstream
  /** A request whose first try failed. */
  let request: string
  before(async function () {
    upstream = await scriptedUpstream()
    const at = { type: 'compatible', base_url: upstream.url, api_key: 'upstream-key' }
    rig = await startConsole(this, {
      providers: [
        { name: 'busy', ...at },
        { name: 'free', ...at },
      ],
      models: [
        { name: 'first', provider: 'busy', fallbacks: ['second'] },
        { name: 'second', provider: 'free' },
      ],
    })
    const { gateway } = rig
    const chat = (model: string) =>
      gateway.asKey('POST /v1/chat/completions', { model, messages: [{ role: 'user', content: 'hello' }] })
    upstream.answer({ status: 503, body: { error: { message: 'Busy.' } } }, { body: chatAnswer })
    expect((await chat('first')).status).to.equal(200)
    for (let sent = 0; sent < 3; sent++) {
      upstream.answer({ body: chatAnswer })
      expect((await chat('second')).status).to.equal(200)
    }
    await until(async () => {
      const { body } = await gateway.asAdmin('GET /api/logs?type=chat')
      const rows = body['data'] as unknown as readonly { readonly id: string; readonly attempts: number }[]
      request = rows.find(({ attempts }) => attempts === 2)?.id ?? ''
      return rows.length === 4
    })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(async () => {
    await rig?.close()
    await upstream.close()
  })

  const tree = (page: Page, name = 'chat-completions') => page.getByRole('tree', { name: `Stages of ${name}` })
  const call = (page: Page) => tree(page).getByRole('treeitem', { name: /^call, stage/ })
  const open = async (path = '/pipelines/chat-completions', looks = {}, name?: string) => {
    const page = await rig.signedIn('admin', path, looks)
    await tree(page, name).waitFor()
    return page
  }

  it('shows a pipeline with the times of real requests, and breaks no rule of access in either theme', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await open('/pipelines/chat-completions', { theme, width: 1440 })
      expect(await page.title()).to.equal('chat-completions · Sluice')
      await page.getByRole('heading', { level: 1, name: 'chat-completions' }).waitFor()
      const name = await call(page).getAttribute('aria-label')
      expect(name).to.match(
        /^call, stage, needs request and model and upstream, gives answer and upstream, median [\d.]+ /,
      )
      await page.getByText('25.0 %', { exact: true }).waitFor()
      const list = page.getByRole('list', { name: 'Pipelines' })
      expect(await list.getByRole('link').count()).to.be.greaterThan(30)
      expect(await list.getByRole('link', { name: /^chat-completions/ }).innerText()).to.match(
        /^chat-completions\s+4\s/,
      )
      expect(await axe(page)).to.deep.equal([])
    }
  })

  it('selects a stage: its options with what gives them, its failures, its lines; the address keeps it', async () => {
    const page = await open()
    await call(page).click()
    await page.waitForURL(/stage=generate(%2F|\/)attempt(%2F|\/)call/)
    const stage = page.getByRole('region', { name: 'Stage' })
    await stage.getByRole('row', { name: /^first_byte .+ (default|settings)$/ }).waitFor()
    await stage.getByText('5 times').waitFor()
    const failures = stage.getByRole('link', { name: '1 · show in logs' })
    expect(await failures.getAttribute('href')).to.match(
      /^\/logs\?result=failed&result=refused&since=.+&pipeline=chat-completions$/,
    )
    const marked = page.getByRole('region', { name: 'YAML' }).locator('[aria-current=true]')
    expect(await marked.innerText()).to.match(/^\d+\s+- call$/)
    await page.reload()
    await tree(page).waitFor()
    expect(await call(page).getAttribute('aria-selected')).to.equal('true')
    await stage.getByRole('button', { name: 'upstream', exact: true }).first().click()
    await stage.getByRole('heading', { name: 'translate', exact: true }).waitFor()
  })

  it('selects a stage by a click on its line', async () => {
    const page = await open()
    const yaml = page.getByRole('region', { name: 'YAML' })
    await yaml.getByText('- validate').click()
    await page.getByRole('region', { name: 'Stage' }).getByRole('heading', { name: 'validate' }).waitFor()
    expect(new URL(page.url()).searchParams.get('stage')).to.equal('validate')
  })

  it('lights the path of one request alone, with its tries', async () => {
    const page = await open(`/pipelines/chat-completions?request=${request}`)
    const picture = tree(page)
    for (const tried of [/^1first 503\d/, /^2second 200\d/]) await picture.locator('text', { hasText: tried }).waitFor()
    const opacity = (name: RegExp) =>
      picture
        .getByRole('treeitem', { name })
        .evaluate((item) => item.ownerDocument.defaultView?.getComputedStyle(item).opacity)
    expect(await opacity(/^classify,/)).to.equal('0.25')
    expect(await opacity(/^requested,/)).to.equal('1')
    const row = page.locator('main').getByRole('link', { name: /^Request / })
    expect(await row.getAttribute('href')).to.equal(`/logs/${request}`)
    await page.getByRole('radio', { name: 'Last hour' }).click()
    await page.waitForURL((address) => !address.searchParams.has('request'))
    expect(await opacity(/^classify,/)).to.equal('1')
  })

  it('steps to the next request of the same pipeline, whatever others have its type', async () => {
    const { gateway } = rig
    const at = Date.now() - 60_000
    const row = (id: string, pipeline: string, seconds: number) =>
      rowWith(id, { at: at + seconds * 1000, type: 'count_tokens', pipeline })
    await addRows(gateway, [
      row('counted-1', 'count-tokens', 1),
      row('counted-2', 'input-tokens', 2),
      row('counted-3', 'count-tokens', 3),
    ])
    const page = await open('/pipelines/count-tokens?request=counted-1', {}, 'count-tokens')
    await page.getByRole('link', { name: 'newer' }).waitFor()
    await page.keyboard.press('k')
    await page.waitForURL((address) => address.searchParams.get('request') === 'counted-3')
    await page.getByRole('link', { name: 'older' }).waitFor()
    expect(await page.getByRole('link', { name: 'newer' }).count()).to.equal(0)
    await page.keyboard.press('j')
    await page.waitForURL((address) => address.searchParams.get('request') === 'counted-1')
  })

  it('goes through the picture by keys, and folds what is included', async () => {
    const page = await open()
    const focused = () => page.locator(':focus').getAttribute('aria-label')
    await tree(page).getByRole('treeitem').first().focus()
    expect(await focused()).to.match(/^auth, stage/)
    await page.keyboard.press('ArrowDown')
    expect(await focused()).to.match(/^parse, stage/)
    await page.keyboard.press('Enter')
    expect(new URL(page.url()).searchParams.get('stage')).to.equal('parse')
    await page.keyboard.press('End')
    expect(await focused()).to.match(/^log, stage/)
    const generate = tree(page).getByRole('treeitem', { name: /^generate, pipeline/ })
    await generate.focus()
    await page.keyboard.press('ArrowLeft')
    expect(await generate.getAttribute('aria-expanded')).to.equal('false')
    expect(await call(page).count()).to.equal(0)
    await page.keyboard.press('ArrowRight')
    await call(page).waitFor()
  })

  it('finds pipelines by letters, and goes to one', async () => {
    const page = await open('/pipelines', { width: 1440 })
    await page.getByRole('heading', { level: 1, name: 'Pipelines' }).waitFor()
    await page.getByRole('searchbox', { name: 'Find a pipeline' }).fill('transcr')
    const links = page.getByRole('list', { name: 'Pipelines' }).getByRole('link')
    expect(await links.count()).to.equal(1)
    await links.click()
    await tree(page, 'transcriptions').waitFor()
    await page.getByText('No request has gone through this pipeline').waitFor()
  })

  it('shows the actions of the admin API by their routes, and finds one by letters', async () => {
    const page = await open('/pipelines/admin', { width: 1440, height: 4000 }, 'admin')
    const actions = page.getByRole('table', { name: 'Actions' })
    await actions.getByText('GET /api/logs/tail').waitFor()
    await page.getByRole('searchbox', { name: 'Find an action' }).fill('setup')
    await actions.getByText('GET /api/logs/tail').waitFor({ state: 'detached' })
    expect(await actions.getByRole('row').count()).to.equal(3)
    expect(await actions.getByRole('row').nth(1).innerText()).to.match(
      /\/api\/auth\/setup.*\s(set-up|show-setup)\s+public/,
    )
    expect(await axe(page)).to.deep.equal([])
  })

  it('fits narrow screens, where the list is a select', async () => {
    const page = await open('/pipelines/chat-completions?range=7d&stage=parse', { width: 390 })
    const overflow = await page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth)
    expect(overflow).to.be.at.most(0)
    await page.getByRole('combobox', { name: 'Pipelines' }).selectOption('embeddings')
    await tree(page, 'embeddings').waitFor()
    expect(new URL(page.url()).search).to.equal('?range=7d')
    expect(await axe(page)).to.deep.equal([])
  })

  it('says in place what failed, and asks again', async () => {
    const page = await rig.signedIn('admin')
    const broken = '**/api/config/pipelines/chat-completions'
    const failure = { status: 500, json: { error: { message: 'It broke.', code: 'internal_error', param: null } } }
    await page.route(broken, (route) => route.fulfill(failure))
    await page.goto('/pipelines/chat-completions')
    await page.getByRole('alert').getByText('It broke.').waitFor()
    await page.unroute(broken)
    await page.getByRole('button', { name: 'Retry' }).click()
    await tree(page).waitFor()
    // What is shown already stays.
    await page.route('**/api/config/pipelines', (route) => route.fulfill(failure))
    await page.keyboard.press('r')
    await page.getByRole('region', { name: 'Attention' }).getByText('Not up to date').waitFor()
    await tree(page).waitFor()
    expect(await page.getByRole('alert').getByText('It broke.').count()).to.equal(0)
    await page.close()
    expect(rig.complaints().join()).to.include('500')
  })

  it('tells viewers that only admins see it', async () => {
    const page = await rig.signedIn('viewer', '/pipelines')
    await page.getByText('Only admins see pipelines.').waitFor()
    expect(await page.getByRole('tree').count()).to.equal(0)
    expect(await axe(page)).to.deep.equal([])
  })
})
