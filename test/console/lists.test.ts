import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

/** As long as a name may be, without a place to break it. */
const name = 'm'.repeat(64)

describe('console/lists', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this, {
      providers: [{ name: 'echo', type: 'echo' }],
      models: [{ name: `${name}-of-file`, provider: 'echo', supports_images: true, supports_mapeval: true }],
      api_keys: [{ name, key: 'sk-long-0123456789' }],
    })
    await rig.gateway.asAdmin('POST /api/config/providers', { name, type: 'echo', config: {} })
    await rig.gateway.asAdmin('POST /api/config/models', { name, provider: 'echo', display_name: 'Long '.repeat(20) })
    await rig.gateway.asAdmin('POST /api/mcp/servers', {
      name,
      transport: 'http',
      url: 'http://[::1]',
      allow_private: true,
    })
    await rig.gateway.asAdmin('POST /api/guards', { name, kind: 'secrets', message: 'm'.repeat(1_024) })
    await rig.gateway.asAdmin('POST /api/team/members', { username: name })
  })
  // Nobody is at the address of the MCP server.
  afterEach(() => expect(rig.complaints().filter((one) => !one.includes('status of 502'))).to.deep.equal([]))
  after(() => rig?.close())

  const tooWide = (page: Page, selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate(({ scrollWidth, clientWidth }) => Math.max(0, scrollWidth - clientWidth))

  for (const path of ['models', 'providers', 'keys', 'members', 'mcp-servers', 'guards'])
    it(`keeps a long name in one line of the list and within its page and its dialogs: ${path}`, async () => {
      for (const width of [1280, 390]) {
        const page = await rig.signedIn('admin', `/${path}`, { width })
        const rows = page.locator('tbody tr')
        await rows.first().waitFor()
        const heights = await rows.evaluateAll((all) =>
          all.map((row) => Math.round(row.getBoundingClientRect().height)),
        )
        expect(new Set(heights)).to.deep.equal(new Set([32]))
        expect(await tooWide(page, 'tbody td:has(a) a')).to.equal(0)
        await page.getByRole('link', { name }).first().click()
        await page.getByRole('heading', { level: 1, name }).waitFor()
        await page.getByRole('tablist').waitFor()
        expect(await tooWide(page, 'html')).to.equal(0)
        expect(await axe(page)).to.deep.equal([])
        if (path === 'keys') continue
        await page.getByRole('button', { name: 'Delete', exact: true }).click()
        await page.getByRole('textbox', { name: `Type ${name} to confirm` }).waitFor()
        expect(await tooWide(page, 'dialog')).to.equal(0)
      }
    })

  it('can be all shown again where nothing has the text that was searched for', async () => {
    const page = await rig.signedIn('admin', '/keys?search=nobody&state=active')
    await page.getByText('No key fits these filters.').waitFor()
    await page.getByRole('button', { name: 'Remove filter: State is enabled' }).click()
    await page.getByRole('button', { name: 'Clear all' }).click()
    await page.getByRole('table', { name: 'API keys' }).waitFor()
    expect(await page.getByRole('searchbox', { name: 'Search keys' }).inputValue()).to.equal('')
  })
})
