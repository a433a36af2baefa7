import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import type { Context } from 'mocha'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../../support/gateway.ts'
import { missing } from '../../support/services.ts'
import { built } from './built.ts'

/** A browser and the console of a gateway. Every page fails its test at a console error or a breach of the policy. */
export interface ConsoleRig {
  /** A new page of a browser that nobody has used, at `path`; `theme` is what the system prefers. */
  open(path?: string, looks?: Looks): Promise<Page>
  /** What went wrong on the pages so far, and forgets it. Call it in `afterEach`; a test that provokes errors drops them. */
  complaints(): readonly string[]
  close(): Promise<void>
}

export interface Looks {
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
}

/** A rig with an admin and a viewer. */
export interface SignedInRig extends ConsoleRig {
  readonly gateway: AdminGateway
  /** A new page of somebody who is signed in already. */
  signedIn(role: 'admin' | 'viewer', path?: string, looks?: Looks): Promise<Page>
}

/** A rig of a gateway without any member, and the token of its set-up. */
export interface NewRig extends ConsoleRig {
  readonly gateway: RunningGateway
  readonly setupToken: string
}

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

function executable(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path))
}

/** A browser; undefined: there is none on PATH. */
export async function openBrowser(): Promise<Browser | undefined> {
  const executablePath = executable()
  if (executablePath === undefined) return undefined
  built()
  // Containers run tests as root and have a small /dev/shm.
  const args = ['--no-sandbox', '--disable-dev-shm-usage']
  return chromium.launch({ executablePath, args, timeout: 0 })
}

async function launch(context: Context): Promise<Browser> {
  return (await openBrowser()) ?? missing(context, 'no chromium on PATH')
}

/** A rig with an admin and a viewer; skips the suite where there is no browser. Call it in `before`. */
export async function startConsole(context: Context, settings: GatewaySettings = {}): Promise<SignedInRig> {
  const browser = await launch(context)
  const gateway = await startAdmin(settings)
  const rig = rigOf(browser, gateway)
  const signedIn = async (role: 'admin' | 'viewer', path = '/', looks: Looks = {}) => {
    const { id, username } = gateway[role]
    const { token, expiresAt } = viewOf(gateway.engine, 'member_sessions').issue({ id, sessionVersion: 1 })
    const user = { id, username, role, must_change_password: false }
    const session = { token, expires_at: new Date(expiresAt).toISOString(), user }
    return rig.open(path, looks, JSON.stringify({ session, since: Date.now() }))
  }
  return { ...rig, gateway, signedIn }
}

/** A rig of a gateway that nobody has set up. */
export async function startNewConsole(context: Context, settings: GatewaySettings = {}): Promise<NewRig> {
  const browser = await launch(context)
  const gateway = await startGateway(settings)
  return { ...rigOf(browser, gateway), gateway, setupToken: viewOf(gateway.engine, 'members').setupToken() }
}

function rigOf(browser: Browser, gateway: RunningGateway) {
  let complaints: string[] = []
  const contexts: BrowserContext[] = []
  return {
    async open(path = '/', { theme = 'light', width = 1280, height = 800 }: Looks = {}, session?: string) {
      const context = await browser.newContext({
        baseURL: gateway.url,
        colorScheme: theme,
        viewport: { width, height },
        reducedMotion: 'reduce',
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      // A busy machine is slow, and mocha has the only clock.
      context.setDefaultTimeout(0)
      contexts.push(context)
      if (session !== undefined)
        await context.addInitScript((text) => {
          if (sessionStorage.getItem('sluice-seeded') !== null) return
          sessionStorage.setItem('sluice-seeded', '')
          sessionStorage.setItem('sluice-session', text)
        }, session)
      const page = await context.newPage()
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(`${message.text()} (${message.location().url})`)
      })
      page.on('pageerror', (error) => complaints.push(String(error.stack ?? error)))
      await page.goto(path)
      return page
    },
    complaints() {
      const all = complaints
      complaints = []
      return all
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()))
      await browser.close()
      await gateway.close()
    },
  }
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds to be wrong on a page as it stands: one line each, empty if nothing is. */
export async function axe(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource)
  return page.evaluate(async () => {
    interface Result {
      violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[]
    }
    const { axe: checker } = globalThis as unknown as { axe: { run(how: object): Promise<Result> } }
    const tags = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']
    const { violations } = await checker.run({
      runOnly: tags,
      rules: { 'label-content-name-mismatch': { enabled: true } },
    })
    // A step of a picture shows marks; its name says them in words.
    const isStep = (id: string, html: string) => id === 'label-content-name-mismatch' && html.startsWith('<g ')
    return violations.flatMap(({ id, help, nodes }) =>
      nodes
        .filter(({ html }) => !isStep(id, html))
        .map(({ html, failureSummary = '' }) => `${id}: ${help}: ${html} ${failureSummary}`),
    )
  })
}

/** What sticks out of a page at its right, unless it is in something that scrolls sideways by itself. */
export function sticksOut(page: Page): Promise<readonly string[]> {
  return page.evaluate(`{
    const end = document.body.getBoundingClientRect().right
    const isHeld = (one) =>
      one !== document.body && (getComputedStyle(one).overflowX !== 'visible' || isHeld(one.parentElement))
    ;[...document.querySelectorAll('body *')]
      .filter((one) => one.getBoundingClientRect().right > end + 0.5 && !isHeld(one.parentElement))
      .map(({ tagName, textContent }) => tagName + ': ' + textContent.slice(0, 40))
  }`)
}
