import { expect } from 'chai'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

/** The rail from top to bottom; a viewer sees what is marked. */
const screens = [
  { path: '/', name: 'Overview', viewers: true },
  { path: '/logs', name: 'Logs', viewers: true },
  { path: '/pipelines', name: 'Pipelines' },
  { path: '/routing', name: 'Routing' },
  { path: '/playground', name: 'Playground', viewers: true },
  { path: '/quick-start', name: 'Quick start', viewers: true },
  { path: '/models', name: 'Models', viewers: true },
  { path: '/providers', name: 'Providers' },
  { path: '/keys', name: 'API keys', viewers: true },
  { path: '/members', name: 'Members' },
  { path: '/mcp-servers', name: 'MCP servers' },
  { path: '/guards', name: 'Guards' },
  { path: '/settings', name: 'Settings' },
  { path: '/audit', name: 'Audit' },
]

describe('every screen of the console', () => {
  let rig: SignedInRig
  before(async function () {
    rig = await startConsole(this)
    const { url, key } = rig.gateway
    for (const model of ['echo', 'nobody'])
      // oxlint-disable-next-line no-await-in-loop
      await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  for (const [theme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
  ] as const)
    it(`is led to by the rail, has its name as its heading, and breaks no rule of axe: ${theme}, ${width} pixels`, async () => {
      const page = await rig.signedIn('admin', '/', { theme, width })
      for (const { path, name } of screens) {
        await page.goto(path)
        await page.getByRole('heading', { level: 1, ...(path === '/pipelines' ? {} : { name, exact: true }) }).waitFor()
        await page.waitForSelector('[class*=_skeleton_]', { state: 'detached' })
        expect(await page.title(), path).to.match(/ · Sluice$/)
        expect(await axe(page), path).to.deep.equal([])
        // Tables scroll by themselves; the page never does so sideways.
        const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        expect(wide, path).to.be.at.most(0)
      }
    })

  it('is in the rail of those who may see it', async () => {
    const links = async (role: 'admin' | 'viewer') => {
      const page = await rig.signedIn(role)
      const main = page.getByRole('navigation', { name: 'Main' })
      await main.getByRole('link', { name: 'Playground' }).waitFor()
      const all = await main.getByRole('link').allInnerTexts()
      return all.map((text) => text.trim()).filter((text) => screens.some(({ name }) => name === text))
    }
    expect(await links('admin')).to.deep.equal(screens.map(({ name }) => name))
    expect(await links('viewer')).to.deep.equal(screens.filter(({ viewers }) => viewers).map(({ name }) => name))
  })

  it('loads at most six files before it shows anything', async () => {
    const page = await rig.open('/sign-in')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const files = (await page.evaluate(
      "performance.getEntriesByType('resource').map(({ name, initiatorType }) => [name, initiatorType])",
    )) as readonly (readonly [string, string])[]
    const wanted = files.filter(([name]) => /\.(js|css)$/.test(name))
    expect(wanted.length + 1, JSON.stringify(files)).to.be.within(2, 6)
  })
})
