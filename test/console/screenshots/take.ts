import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { startDay } from './day.ts'
import type { Day } from './day.ts'

/** Where the pictures of the docs are kept. */
const folder = process.env['SCREENSHOTS'] ?? join(import.meta.dirname, '..', '..', '..', 'docs', 'screenshots')
/** Every screen in all widths, for people who look at them, instead of those of the docs. */
const isAll = process.env['SCREENSHOTS'] !== undefined

/** A picture a quarter of the size of a PNG. */
async function small(page: Page, file: string) {
  const browser = await page.context().newCDPSession(page)
  const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality: 92 })
  writeFileSync(file, Buffer.from(data, 'base64'))
}

interface Shot {
  readonly name: string
  readonly path: string
  /** Pixels; default 900. */
  readonly height?: number
  /** What to do before the picture is taken. */
  readonly prepare?: (page: Page) => Promise<unknown>
}

const drawn = (charts: number) => async (page: Page) => {
  await page
    .locator('canvas')
    .nth(charts - 1)
    .waitFor()
}

const ask = async (page: Page) => {
  await page.getByRole('textbox', { name: 'API key' }).fill('sk-agents-0123456789abcdef')
  await page.getByRole('textbox', { name: 'Message' }).fill('Which of these two contracts binds us longer?')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('button', { name: 'Too weak' }).waitFor()
}

const shown = ({ fallenBack }: Day): readonly Shot[] => [
  { name: 'overview', path: '/', prepare: drawn(2) },
  { name: 'pipeline', path: '/pipelines/chat-completions?stage=generate%2Fattempt%2Fcall', height: 1280 },
  {
    name: 'path',
    path: `/pipelines/chat-completions?request=${fallenBack}&stage=generate%2Fattempt%2Fcall`,
    height: 1360,
  },
  { name: 'logs', path: '/logs', prepare: drawn(1) },
  { name: 'request', path: `/logs/${fallenBack}` },
  { name: 'routing', path: '/routing' },
  { name: 'playground', path: '/playground', prepare: ask },
]

const further: readonly Shot[] = [
  ...['settings', 'experience', 'judge', 'export'].map((tab) => ({
    name: `routing-${tab}`,
    path: `/routing?tab=${tab}`,
  })),
  { name: 'quick-start', path: '/quick-start' },
  { name: 'models', path: '/models' },
  { name: 'model', path: '/models/reed-large' },
  { name: 'providers', path: '/providers' },
  { name: 'provider', path: '/providers/sable' },
  { name: 'add-provider', path: '/providers?add=1' },
  { name: 'keys', path: '/keys' },
  { name: 'add-key', path: '/keys/new' },
  { name: 'members', path: '/members' },
  { name: 'add-member', path: '/members/new' },
  { name: 'mcp-servers', path: '/mcp-servers' },
  { name: 'mcp-server', path: '/mcp-servers/library' },
  { name: 'settings', path: '/settings/resilience' },
  { name: 'audit', path: '/audit' },
  { name: 'configuration', path: '/configuration' },
  { name: 'account', path: '/account' },
  { name: 'no-page', path: '/nowhere' },
]

describe('pictures of the console', () => {
  let day: Day
  before(async function () {
    mkdirSync(folder, { recursive: true })
    day = await startDay(this)
  })
  after(() => day?.close())

  for (const theme of ['light', 'dark'] as const)
    it(`in ${theme}`, async () => {
      const widths = isAll ? [1920, 1280, 390] : [1440]
      for (const { name, path, height = 900, prepare } of [...shown(day), ...(isAll ? further : [])]) {
        const page = await day.signedIn('admin', path, { theme, width: 1440, height })
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForSelector('[class*=_skeleton_]', { state: 'detached' })
        await prepare?.(page)
        for (const width of widths) {
          await page.setViewportSize({ width, height: isAll ? 1000 : height })
          // Fonts, lazy charts and the last paint.
          await page.evaluate(
            'document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))',
          )
          if (isAll) await page.screenshot({ path: join(folder, `${name}-${theme}-${width}.png`) })
          else await small(page, join(folder, `${name}-${theme}.webp`))
        }
        await page.context().close()
      }
    })
})
