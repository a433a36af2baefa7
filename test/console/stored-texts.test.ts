import { expect } from 'chai'
import type { Locator } from 'playwright-core'
import type { JsonObject } from '../../engine/index.ts'
import { payloads } from './support/payloads.ts'
import { reads, watched } from './support/staying-text.ts'
import type { Watch } from './support/staying-text.ts'
import { inHeader, startStored } from './support/stored-payloads.ts'
import type { StoredRig } from './support/stored-payloads.ts'

const texts = payloads.map(({ text }) => text)
const names = payloads.map(({ name }) => name)
const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
const at = (screen: string, name: string) => `/${screen}/${encodeURIComponent(name)}`

describe('console: what others wrote', () => {
  let rig: StoredRig
  let admin: Watch
  let viewer: Watch
  let missing: readonly string[] = []

  before(async function () {
    rig = await startStored(this)
    const { url } = rig.gateway
    admin = await watched(await rig.signedIn('admin', '/account'), url)
    viewer = await watched(await rig.signedIn('viewer', '/account'), url)
  })
  afterEach(async () => {
    expect(missing, 'what nobody could read').to.deep.equal([])
    for (const watch of [admin, viewer]) expect(await watch.findings()).to.deep.equal([])
    expect(rig.complaints()).to.deep.equal([])
  })
  after(() => rig?.close())

  const sees = (part: Locator, wanted: readonly string[]) => reads(part, wanted, (left) => (missing = left))
  /** Opens a screen, where the texts can be read and are nothing else. */
  const shows = async (path: string, wanted: readonly string[], by = admin) => {
    await by.page.goto(path)
    await sees(by.page.getByRole('main'), wanted)
    expect(await by.findings(), path).to.deep.equal([])
    return by.page
  }

  it('would be noticed if it were more than text', async () => {
    const watch = await watched(await rig.open('/sign-in'), rig.gateway.url)
    await watch.page.goto('/sign-in')
    await watch.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await watch.findings()).to.deep.equal([])
    await watch.page.evaluate(
      (all) => {
        const { document } = globalThis as unknown as { readonly document: { readonly body: { innerHTML: string } } }
        document.body.innerHTML = all.join('')
      },
      texts.slice(0, 3),
    )
    await watch.page.evaluate('Object.prototype.owned = 1, setTimeout(() => alert(1))')
    await watch.page.waitForEvent('dialog')
    const found = (await watch.findings()).join('\n')
    expect(found)
      .to.match(/^breach: script-src-attr inline/m)
      .and.include('dialog: 1')
    expect(found).to.include('element: <script>').and.include('element: <img src="x"').and.include('Object.prototype')
    // Its pictures do not come, whenever that is told: later tests must not hear of it.
    await watch.page.close()
    expect(rig.complaints()).not.to.deep.equal([])
  })

  it('is refused as a name where a name cannot hold it', async () => {
    const { asAdmin } = rig.gateway
    const refuses = async (route: string, body: object, param?: string) => {
      const answer = await asAdmin(`POST ${route}`, body)
      expect(answer.status, `${route} ${JSON.stringify(body)}`).to.equal(422)
      if (param !== undefined) expect(answer.param).to.equal(param)
    }
    for (const { text } of payloads) {
      await refuses('/api/team/members', { username: text }, 'username')
      await refuses('/api/api-keys', { name: 'tagged', tags: { [text]: 'value' } })
      if (!/\s/u.test(text)) continue
      await refuses('/api/api-keys', { name: text }, 'name')
      await refuses('/api/config/providers', { name: text, type: 'echo' }, 'name')
      await refuses('/api/config/models', { name: text, provider: names[0] }, 'name')
      await refuses('/api/mcp/servers', { name: text, transport: 'http', url: 'https://198.41.0.4/' }, 'name')
    }
    for (const name of ['${window.owned=1}', '..', 'a\u0000b'])
      await refuses('/api/config/models', { name, provider: names[0] }, 'name')
  })

  it('stays text in the lists of records', async () => {
    await shows('/models', [...names, ...texts])
    await shows('/providers', names)
    await shows('/keys', names)
    await shows('/mcp-servers', [...names, ...texts])
    await shows('/models', [...names, ...texts], viewer)
    await shows('/keys', names, viewer)
    await shows('/configuration', names)
  })

  it('stays text on the pages of records, which their names lead to', async () => {
    for (const { name, text, keyId } of rig.stored) {
      await shows(at('models', name), [name, text, `alias:${name}`])
      await shows(at('providers', name), [name])
      await shows(at('keys', keyId), [name, text])
      const page = await shows(`${at('mcp-servers', name)}?tool=${encodeURIComponent(text)}`, [name, ...texts])
      expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal(name)
      await sees(page.getByRole('region', { name: text, exact: true }), [text, inJson(text)])
    }
    await shows(at('keys', rig.stored[1]?.keyId ?? ''), [names[1] ?? ''], viewer)
    const { id } = await rig.gateway.addMember({ models: JSON.stringify(names) })
    await shows(at('members', id), names)
  })

  it('stays text where MCP servers offer it, and where they change it', async () => {
    await shows(`${at('mcp-servers', names[0] ?? '')}?tab=offers`, texts)
    rig.describe(({ text }) => `Now ${text}`)
    await shows(at('mcp-servers', names[0] ?? ''), [...texts, ...texts.map((text) => `Now ${text}`)])
  })

  it('stays text in the log and in figures, for whoever sees it', async () => {
    for (const by of [admin, viewer]) {
      await shows('/logs', names, by)
      await shows('/', names, by)
      await shows('/?group=key', names, by)
    }
    await shows('/?group=provider', names)
  })

  it('stays text on the page of a request', async () => {
    for (const [index, { name, text, answered, failed, called }] of rig.stored.entries()) {
      const page = await shows(`/logs/${answered}`, [name, `Asked: ${text}`, `Said: ${text}`, `team: ${text}`])
      await sees(page.getByRole('region', { name: 'Decision', exact: true }), [name])
      await page.getByRole('tab', { name: 'JSON' }).click()
      await sees(page.getByRole('region', { name: 'Request', exact: true }), [inJson(text)])
      await sees(page.getByRole('region', { name: 'Response', exact: true }), [inJson(text)])
      await page.getByRole('tab', { name: 'Headers' }).click()
      await sees(page.getByRole('tabpanel'), [inHeader(text)])
      await shows(`/logs/${failed}`, [name, `Wrong: ${text}`], index % 5 === 0 ? viewer : admin)
      await shows(`/logs/${called}`, [name, text])
    }
  })

  it('stays text in decisions', async () => {
    await shows('/routing', names)
    await shows(`/routing?decision=${rig.stored[1]?.answered}`, names)
    await shows('/routing?tab=experience', names)
  })

  it('stays text in what was changed', async () => {
    const { data } = (await rig.gateway.asAdmin('GET /api/logs/audit?action=model.create')).body as {
      readonly data: readonly (JsonObject & { readonly sequence: number })[]
    }
    const page = await shows('/audit?action=model.create', names)
    for (const [index, { name, text }] of payloads.toReversed().entries()) {
      const { sequence } = data[index] ?? { sequence: 0 }
      await shows(`/audit?action=model.create&row=${sequence}`, [])
      await sees(page.getByRole('region', { name: `Row ${sequence}`, exact: true }), [name, text])
    }
  })

  it('stays text in the playground, as what a model says and as what it is called', async () => {
    const { page } = viewer
    await page.goto('/playground')
    for (const { name, text, key } of rig.stored) {
      await page.getByRole('textbox', { name: 'API key' }).fill(key)
      await page.getByRole('combobox', { name: 'Model' }).fill(name)
      await page.getByRole('textbox', { name: 'Message' }).fill(text)
      await page.getByRole('button', { name: 'Send' }).click()
      await sees(page.getByRole('log', { name: 'Conversation' }), [name, text, `Said: ${text}`])
      await page.getByText('to the first text').waitFor()
      await sees(page.getByRole('main'), [text])
      expect(await viewer.findings(), text).to.deep.equal([])
      await page.getByRole('button', { name: 'New conversation' }).click()
    }
  })

  it('stays text where it is searched for', async () => {
    const { page } = admin
    await page.goto('/account')
    await page.getByRole('button', { name: 'Search' }).click()
    for (const name of names) {
      await page.getByRole('combobox', { name: 'Search' }).fill(name)
      await sees(page.getByRole('listbox', { name: 'Search' }), [name])
      expect(await admin.findings(), name).to.deep.equal([])
    }
  })

  it('stays text in a spreadsheet', async () => {
    const page = await shows('/keys', names)
    await page.getByRole('button', { name: 'CSV' }).click()
    await page.getByRole('menuitem', { name: 'Copy as CSV' }).click()
    const csv = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(csv)
      .to.include(`"'=HYPERLINK(""https://evil.example`)
      .and.not.match(/(^|,)"?=/m)
  })
})
