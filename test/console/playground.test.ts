import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { password } from '../support/admin.ts'
import { until } from '../support/until.ts'
import { chatFrames } from '../service/streams.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'
import { pictured } from './support/pictured.ts'
import { startRouted } from './support/routed.ts'
import type { RoutedRig } from './support/routed.ts'

/** What a model may say, and what must stay text. */
const payload = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'

describe('console/playground', () => {
  let rig: SignedInRig
  let upstream: ScriptedUpstream
  before(async function () {
    upstream = await scriptedUpstream()
    rig = await startConsole(this, {
      providers: [{ name: 'vendor', type: 'compatible', base_url: `${upstream.url}/v1`, api_key: 'key' }],
      models: [{ name: 'tiny', provider: 'vendor', pricing: { input: 1, output: 1 }, max_output_tokens: 1000 }],
    })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(async () => {
    await rig?.close()
    await upstream.close()
  })

  it('is a client with a key of its own: what the model says streams in as text', async () => {
    upstream.answer({ frames: chatFrames('Good ', 'day ', payload) })
    const page = await rig.signedIn('admin', '/playground')
    await page.getByRole('combobox', { name: 'Model' }).fill('tiny')
    await page.getByRole('button', { name: 'Make a playground key' }).click()
    await expectKey(page)
    await page.getByRole('textbox', { name: 'Message' }).fill('Hello')
    await page.getByRole('button', { name: 'Send' }).click()
    const log = page.getByRole('log', { name: 'Conversation' })
    await log.getByText(`Good day ${payload}`).waitFor()
    await page.getByText('to the first text').waitFor()
    expect(await page.title()).to.equal('Playground · Sluice')
    await page.getByRole('region', { name: 'Decision' }).getByText('asked for by name').waitFor()
    const { headers, body } = upstream.requests.at(-1) ?? {}
    expect(headers).to.include({ authorization: 'Bearer key' })
    expect(JSON.parse(body?.toString() ?? '')).to.deep.include({ messages: [{ role: 'user', content: 'Hello' }] })
    upstream.answer({ frames: chatFrames('Again') })
    await page.getByRole('textbox', { name: 'Message' }).fill('More')
    await page.keyboard.press('Enter')
    await log.getByText('Again').waitFor()
    expect(upstream.requests.at(-1)?.body.toString()).to.include('Good day')
  })

  it('forgets the key with who signs out, on any page, and keeps it over a reload', async () => {
    const page = await rig.signedIn('admin', '/playground')
    const stored = () => page.evaluate(() => JSON.stringify(sessionStorage))
    const field = page.getByRole('textbox', { name: 'API key' })
    await field.fill(rig.gateway.key)
    await page.reload()
    await until(async () => (await field.inputValue()) === rig.gateway.key)
    await page.goto('/models')
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor()
    expect(await stored()).to.include(rig.gateway.key)
    await page.getByRole('button', { name: 'Account admin' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    expect(await stored()).to.not.include(rig.gateway.key)
    await page.getByLabel('Username').fill('admin')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Playground' }).click()
    expect(await field.inputValue()).to.equal('')
    // What was under way at the end of the session.
    expect(rig.complaints().filter((line) => !line.includes('status of 401'))).to.deep.equal([])
  })

  it('forgets the key when another member signs in where the session was over', async () => {
    const page = await rig.signedIn('admin', '/playground')
    const field = page.getByRole('textbox', { name: 'API key' })
    await field.fill(rig.gateway.key)
    await page.evaluate((other) => {
      const held = JSON.parse(sessionStorage.getItem('sluice-session') ?? '{}') as { session: { user: { id: string } } }
      held.session.user.id = other
      sessionStorage.setItem('sluice-session', JSON.stringify(held))
    }, rig.gateway.viewer.id)
    await page.reload()
    await field.waitFor()
    expect(await field.inputValue()).to.equal('')
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).to.not.include(rig.gateway.key)
  })

  it('speaks the protocols of clients, and shows the request as it goes out', async () => {
    for (const label of ['Messages', 'Responses']) {
      upstream.answer({ frames: chatFrames(`by ${label}`) })
      const page = await rig.signedIn('admin', '/playground')
      await page.getByRole('textbox', { name: 'API key' }).fill(rig.gateway.key)
      await page.getByRole('combobox', { name: 'Model' }).fill('tiny')
      await page.getByRole('radio', { name: label }).click()
      await page.getByText('The request as it goes out').click()
      await page.getByText(`POST /v1/${label.toLowerCase()}`).waitFor()
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByRole('log', { name: 'Conversation' }).getByText(`by ${label}`).waitFor()
    }
  })

  it('tells what went wrong in the words of the gateway', async () => {
    const page = await rig.signedIn('viewer', '/playground')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('alert').getByText('An API key is needed').waitFor()
    await page.getByRole('textbox', { name: 'API key' }).fill('sk-wrong')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('alert').getByText('401').waitFor()
    expect(rig.complaints().every((complaint) => complaint.includes('401'))).to.equal(true)
  })

  it('stops when it is told to, and when the page is left', async () => {
    upstream.answer({ frames: chatFrames('As far as this').slice(0, 2), ending: 'hang' })
    const page = await rig.signedIn('admin', '/playground?model=tiny')
    await page.getByRole('textbox', { name: 'API key' }).fill(rig.gateway.key)
    const log = page.getByRole('log', { name: 'Conversation' })
    await page.getByRole('button', { name: 'Send' }).click()
    await log.getByText('As far as this').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await upstream.closed()
    expect(await log.getByText('As far as this').count()).to.equal(1)
    await page.getByRole('textbox', { name: 'Message' }).fill('Once more')
    await page.getByRole('button', { name: 'Send' }).click()
    await until(async () => (await log.getByText('As far as this').count()) === 2)
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Models' }).click()
    await upstream.closed()
    const results = (await rig.gateway.rows()).map(({ result }) => result)
    expect(results.filter((result) => result === 'client_closed').length).to.equal(2)
  })

  it('knows its request before it says anything, and what was said before it breaks off', async () => {
    const before = upstream.requests.length
    upstream.answer({ frames: [], ending: 'hang' })
    const page = await rig.signedIn('admin', '/playground?model=tiny')
    await page.getByRole('textbox', { name: 'API key' }).fill(rig.gateway.key)
    await page.getByRole('button', { name: 'Send' }).click()
    const log = page.getByRole('log', { name: 'Conversation' })
    await until(() => Promise.resolve(upstream.requests.length > before))
    await page.getByRole('button', { name: 'Stop' }).click()
    await log.getByRole('alert').getByText('Stopped.').waitFor()
    const { id } = await rig.gateway.row(
      ({ result, first_byte: first }) => result === 'client_closed' && first === null,
    )
    await page.getByRole('link', { name: `request ${id.slice(0, 8)}` }).waitFor()
    expect(await page.getByRole('link', { name: /^request / }).getAttribute('href')).to.equal(`/logs/${id}`)

    // A connection that is lost after the first text.
    await page.evaluate(`{
      const own = fetch
      globalThis.fetch = (path, ...rest) => {
        if (path !== '/v1/chat/completions') return own(path, ...rest)
        let reads = 0
        const pull = (control) =>
          (reads += 1) === 1
            ? control.enqueue(new TextEncoder().encode('data: {"choices":[{"delta":{"content":"Half of"}}]}\\n\\n'))
            : control.error(new TypeError('network error'))
        return Promise.resolve(new Response(new ReadableStream({ pull }, { highWaterMark: 0 })))
      }
    }`)
    await page.getByRole('textbox', { name: 'Message' }).fill('Again')
    await page.getByRole('button', { name: 'Send' }).click()
    await log.getByRole('alert').getByText('The answer broke off.').waitFor()
    await log.getByText('Half of').waitFor()
    await page.evaluate(`globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch'))`)
    await page.getByRole('textbox', { name: 'Message' }).fill('Again')
    await page.getByRole('button', { name: 'Send' }).click()
    await log.getByRole('alert').getByText('The gateway does not answer.').waitFor()
  })

  it('asks again what a request of the log asked, with its model', async () => {
    await rig.gateway.asAdmin('PATCH /api/config/server/logging', { capture: 'all' })
    upstream.answer({ frames: chatFrames('Once') })
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: `What is ${payload}?` },
    ]
    const response = await rig.gateway.post('/v1/chat/completions', { model: 'tiny', messages, stream: true })
    await response.text()
    const id = response.headers.get('x-request-id') ?? ''
    await rig.gateway.row((row) => row.id === id)
    const page = await rig.signedIn('admin', `/playground?model=tiny&request=${id}`)
    await until(
      async () => (await page.getByRole('textbox', { name: 'Message' }).inputValue()) === `What is ${payload}?`,
    )
    expect(await page.getByRole('textbox', { name: 'System' }).inputValue()).to.equal('Be brief.')
    expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).to.equal('tiny')
    await page.getByRole('textbox', { name: 'API key' }).fill(rig.gateway.key)
    upstream.answer({ frames: chatFrames('Twice') })
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('log', { name: 'Conversation' }).getByText('Twice').waitFor()
    await page.getByText(/^cost /).waitFor()
    await page.getByRole('button', { name: 'Copy answer' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal('Twice')
  })

  for (const theme of ['light', 'dark'] as const)
    it(`can be read by everybody: ${theme}`, async () => {
      upstream.answer({ frames: chatFrames('Hello.') })
      const page = await rig.signedIn('admin', '/playground', { theme })
      await page.getByRole('textbox', { name: 'API key' }).fill(rig.gateway.key)
      await page.getByRole('combobox', { name: 'Model' }).fill('tiny')
      await page.getByRole('button', { name: 'Compare' }).click()
      await page.getByRole('combobox', { name: 'Other model' }).fill('tiny')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('to the first text').nth(1).waitFor()
      expect(await axe(page)).to.deep.equal([])
      if (process.env['SCREENSHOTS'])
        await page.screenshot({ path: `${process.env['SCREENSHOTS']}/playground-${theme}.png`, fullPage: true })
    })
})

describe('console/playground: a routed answer', () => {
  let rig: RoutedRig
  before(async function () {
    rig = await startRouted(this)
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  for (const theme of ['light', 'dark'] as const)
    it(`shows why this model, and takes the rating: ${theme}`, async () => {
      const page = await rig.signedIn('admin', '/playground', { theme })
      await page.getByRole('textbox', { name: 'API key' }).fill(rig.gateway.key)
      await page.getByRole('textbox', { name: 'Message' }).fill('What is the capital of France?')
      await page.getByRole('button', { name: 'Send' }).click()
      const decision = page.getByRole('region', { name: 'Decision' })
      await decision.getByRole('img', { name: /^Complexity 0\.\d\d, tier (SIMPLE|MEDIUM|COMPLEX)$/ }).waitFor()
      const [served = ''] = await decision.getByRole('heading').allTextContents()
      expect(served).to.match(/^Why (small|mid|large)$/)
      const names = await decision.getByRole('table', { name: 'Candidates' }).getByRole('rowheader').allTextContents()
      expect([...names].toSorted()).to.deep.equal(['large', 'mid', 'small'])
      expect(`Why ${names[0]}`).to.equal(served)
      await decision.getByText('structural .').waitFor()
      await decision.getByText('metadata abstains').waitFor()
      await decision.getByText('SIMPLE .07').waitFor()
      await decision.getByRole('note', { name: 'Reasons' }).getByText('chosen=').waitFor()
      await decision.getByRole('button', { name: 'Too weak' }).click()
      await decision.getByRole('status').getByText('noted').waitFor()
      expect(await decision.getByRole('button', { name: 'Too weak' }).getAttribute('aria-pressed')).to.equal('true')
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `routed-${theme}`)
    })
})

/** Waits until the field holds a key. */
async function expectKey(page: Page): Promise<void> {
  const field = page.getByRole('textbox', { name: 'API key' })
  await until(async () => (await field.inputValue()).startsWith('sk-sluice-'))
}

describe('console/quick-start', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this)
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  for (const theme of ['light', 'dark'] as const)
    it(`shows a text to paste for each client, with the address of this gateway: ${theme}`, async () => {
      const page = await rig.signedIn('viewer', '/quick-start', { theme })
      await page.getByRole('heading', { level: 1, name: 'Quick start' }).waitFor()
      await page.getByRole('link', { name: 'Codex' }).click()
      await page
        .getByRole('region', { name: 'Put into ~/.codex/config.toml' })
        .first()
        .getByText(`${rig.gateway.url}/v1`)
        .first()
        .waitFor()
      expect(page.url()).to.include('client=codex')
      expect(await axe(page)).to.deep.equal([])
      if (process.env['SCREENSHOTS'])
        await page.screenshot({ path: `${process.env['SCREENSHOTS']}/quick-start-${theme}.png`, fullPage: true })
    })
})
