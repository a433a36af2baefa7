// Measures the console in Chromium on a gateway with a long log: how soon screens show their rows, how smoothly the log
// scrolls, how soon it answers clicks, and what a tab holds after minutes of live rows. Prints tables.
//   npm run bench:console [-- --rows 1000000 --days 30 --minutes 2 --rate 10 --runs 5 --folder <kept database>]
// The machine should be idle; its load is printed beside the figures.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, BrowserContext } from 'playwright-core'
import { openBrowser } from '../console/support/browser.ts'
import { startFilled } from './console-gateway.ts'
import { longestTask, openMeasured, scroll } from './console-page.ts'
import type { Told } from './console-page.ts'
import { cpuMicros, residentMb } from './processes.ts'

const argument = (name: string) => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? undefined : process.argv[index + 1]
}
const number = (name: string, fallback: number) => Number(argument(name) ?? fallback)
const rows = number('rows', 1_000_000)
const days = number('days', 30)
const minutes = number('minutes', 2)
const rate = number('rate', 10)
const runs = number('runs', 5)
const kept = argument('folder')
const folder = kept ?? mkdtempSync(join(tmpdir(), 'sluice-console-'))
mkdirSync(folder, { recursive: true })
if (kept === undefined) process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const list = 'main tr[aria-rowindex]'
const screens = [
  { name: 'Logs, 24 hours', path: '/logs', shows: list },
  { name: 'Logs, 30 days', path: '/logs?range=30d', shows: list },
  { name: 'Logs, 30 days, failed', path: '/logs?range=30d&status=5xx', shows: list },
  { name: 'Overview, 24 hours', path: '/', shows: 'main tbody tr' },
  { name: 'Overview, 30 days', path: '/?range=30d', shows: 'main tbody tr' },
  { name: 'Usage of a model, 30 days', path: '/models/model-1?tab=usage&range=30d', shows: 'main tbody tr' },
  { name: 'Pipeline', path: '/pipelines/chat-completions', shows: '[role=tree]' },
  { name: 'Routing', path: '/routing', shows: '[role=tabpanel] button' },
  { name: 'Audit', path: '/audit', shows: list },
]

const median = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[(values.length - 1) >> 1] ?? Number.NaN
const whole = (value: number) => Math.round(value)
const load = () => loadavg()[0]?.toFixed(1)

const gateway = await startFilled({ folder, rows, days, auditRows: 2000, port: number('port', 19_600) })
const opened = await openBrowser()
if (opened === undefined) throw new Error('there is no chromium on PATH')
const browser: Browser = opened
console.log(`${rows} rows of ${days} days, Chromium ${browser.version()}, load ${load()}`)
try {
  await measureFirstLoad()
  await measureScreens()
  await measureScrolling()
  await measureClicks()
  await measureTail()
} finally {
  await browser.close()
  gateway.close()
}
process.exit()

/** A browser that nobody has used, where the admin is signed in. */
async function newContext(): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: gateway.url, viewport: { width: 1280, height: 800 } })
  const held = JSON.stringify({ session: gateway.session, since: Date.now() })
  await context.addInitScript(`
    sessionStorage.setItem('sluice-session', ${JSON.stringify(held)})
    localStorage.setItem('sluice-set-up-closed', '')
  `)
  return context
}

/** What a browser loads for a first screen. */
async function measureFirstLoad(): Promise<void> {
  const context = await newContext()
  const page = await context.newPage()
  const cdp = await context.newCDPSession(page)
  await cdp.send('Network.enable')
  const files = new Map<string, { readonly path: string; bytes: number }>()
  cdp.on('Network.responseReceived', ({ requestId, response }) =>
    files.set(requestId, { path: new URL(response.url).pathname, bytes: 0 }),
  )
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const file = files.get(requestId)
    if (file) file.bytes = encodedDataLength
  })
  await page.goto('/', { waitUntil: 'networkidle' })
  const kinds = {
    page: /^\/$/,
    script: /\.js$/,
    style: /\.css$/,
    other: /^\/assets\/.*(?<!\.js|\.css)$/,
    api: /^\/api\//,
  }
  console.table(
    Object.entries(kinds).map(([kind, fits]) => {
      const found = [...files.values()].filter(({ path }) => fits.test(path))
      const bytes = found.reduce((sum, file) => sum + file.bytes, 0)
      return { 'first load of Overview': kind, files: found.length, 'kB as sent': (bytes / 1000).toFixed(1) }
    }),
  )
  await context.close()
}

/** How soon each screen shows its rows: once with an empty cache, then the median of others; and its routes alone. */
async function measureScreens(): Promise<void> {
  const table = []
  for (const { name, path, shows } of screens) {
    const context = await newContext()
    const routes = new Set<string>()
    context.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (request.method() === 'GET' && pathname.startsWith('/api/') && !pathname.endsWith('/tail'))
        routes.add(pathname + search)
    })
    const all: (Told & { readonly used: number; readonly longest: number })[] = []
    for (let run = 0; run <= runs; run++) {
      let told: Told | undefined
      let used = 0
      const longest = await longestTask(browser, async () => {
        const measured = await openMeasured(context, path, shows)
        used = await measured.used()
        await measured.page.waitForTimeout(500)
        told = await measured.told()
        await measured.page.close()
      })
      if (told) all.push({ ...told, used, longest })
    }
    await context.close()
    const [first, ...later] = all
    const slowest = (await timesOf(routes)).toSorted((one, other) => other.took - one.took)[0]
    table.push({
      screen: name,
      'rows, empty cache': whole(first?.shown ?? Number.NaN),
      rows: whole(median(later.map(({ shown }) => shown ?? Number.NaN))),
      whole: whole(median(later.map((told) => told.whole ?? Number.NaN))),
      'main thread, processor': whole(median(later.map(({ used }) => used))),
      'longest task, processor': whole(median(later.map(({ longest }) => longest))),
      shift: Math.max(...all.map(({ shift }) => shift)).toFixed(3),
      'slowest route alone': slowest ? `${whole(slowest.took)} ${slowest.route.split('?')[0]}` : '',
      'its processor time': whole(slowest?.used ?? 0),
      load: load(),
    })
  }
  console.table(table)
}

/** How long routes take when nobody else asks: medians by the clock, and the gateway's processor time. */
async function timesOf(routes: ReadonlySet<string>) {
  const all = []
  for (const route of routes) {
    const times = []
    const before = cpuMicros(gateway.pid)
    for (let run = 0; run < runs; run++) {
      const began = performance.now()
      await gateway.asAdmin(`GET ${route}`)
      times.push(performance.now() - began)
    }
    all.push({ route, took: median(times), used: (cpuMicros(gateway.pid) - before) / 1000 / runs })
  }
  return all
}

/** Opens the log without new rows, and scrolls down over so many. */
async function scrolled(context: BrowserContext, most: number) {
  const measured = await openMeasured(context, '/logs?live=0', list)
  await measured.forget()
  const before = await measured.used()
  const { frames } = await scroll(measured, '[role=group][aria-label=Requests]', most)
  return { ...measured, frames, spent: (await measured.used()) - before }
}

async function measureScrolling(): Promise<void> {
  const table: object[] = []
  for (let run = 0; run < 2; run++) {
    const context = await newContext()
    const longest = await longestTask(browser, async () => {
      const { frames, told, spent } = await scrolled(context, 2000)
      const { longTasks, shift } = await told()
      const at = (part: number) => frames[Math.floor(frames.length * part)] ?? 0
      table.push({
        'scrolling over rows': 2000,
        frames: frames.length,
        'frame p50': at(0.5).toFixed(1),
        'frame p95': at(0.95).toFixed(1),
        'tasks over 50 ms': longTasks.length,
        'processor time of a frame': (spent / frames.length).toFixed(1),
        shift: shift.toFixed(3),
        load: load(),
      })
    })
    Object.assign(table.at(-1) ?? {}, { 'longest task, processor': whole(longest) })
    await context.close()
  }
  console.table(table)
}

/** How long clicks and keys take until their effect is drawn, with 1,000 rows loaded. */
async function measureClicks(): Promise<void> {
  const context = await newContext()
  const { page, told, forget, used } = await scrolled(context, 1000)
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const acts: readonly (readonly [string, () => Promise<void>])[] = [
    ['live rows on', () => button('Paused').click()],
    ['live rows off', () => button('Live').click()],
    ['menu of columns', () => button('Columns').click()],
    ['one column more', () => page.getByRole('menuitemcheckbox', { name: 'Provider' }).click()],
    ['menu closed', () => page.keyboard.press('Escape')],
    ['next row (j)', () => page.keyboard.press('j')],
    ['form of a filter', () => button('Add filter').click()],
    ['form closed', () => page.keyboard.press('Escape')],
    ['a request', () => page.locator('[data-row-link]').first().click()],
  ]
  const table = []
  for (const [name, act] of acts) {
    await forget()
    const before = await used()
    await act()
    await page.waitForTimeout(700)
    const { interactions } = await told()
    table.push({
      'with 1,000 rows': name,
      'until drawn': Math.max(0, ...interactions.map(({ length }) => length)) || 'under 16',
      'main thread, processor': whole((await used()) - before),
      load: load(),
    })
  }
  console.table(table)
  await context.close()
}

/** What a tab holds before and after minutes of live rows. */
async function measureTail(): Promise<void> {
  const context = await newContext()
  const measured = await openMeasured(context, '/logs', list)
  const { page, told, held, forget, used } = measured
  for (let count = 0; count < 20; count++) await gateway.send()
  await page.waitForTimeout(2000)
  await forget()
  const table: object[] = []
  let before = await used()
  const look = async (minute: number, sent: number) => {
    const spent = (await used()) - before
    const { heap, nodes } = await held()
    const { longTasks, shift } = await told()
    before = await used()
    table.push({
      'live rows, minute': minute,
      sent,
      'heap MB': (heap / 1e6).toFixed(1),
      nodes,
      'tasks over 50 ms': longTasks.length,
      'main thread, processor s': (spent / 1000).toFixed(1),
      shift: shift.toFixed(3),
      'gateway MB': whole(residentMb(gateway.pid)),
      load: load(),
    })
  }
  await look(0, 0)
  let sent = 0
  for (let minute = 1; minute <= minutes; minute++) {
    const until = performance.now() + 60_000
    while (performance.now() < until) {
      await gateway.send()
      sent += 1
      await pause(1000 / rate)
    }
    await look(minute, sent)
  }
  console.table(table)
  await context.close()
}
