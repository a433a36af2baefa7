import type { Browser, BrowserContext, Page } from 'playwright-core'

/** What a page tells of itself. Times are in milliseconds since the navigation. */
export interface Told {
  /** When what was waited for was drawn, and the page could take a click. */
  readonly shown: number | null
  /** When nothing of it was a skeleton any more. */
  readonly whole: number | null
  /** Lengths of tasks over 50 ms by the clock, which includes what other programs took. */
  readonly longTasks: readonly number[]
  readonly shift: number
  /** Durations of interactions, by what began them. Shorter ones than 16 ms are not told. */
  readonly interactions: readonly { readonly name: string; readonly length: number }[]
}

/** Observes the page from its first moment on, and waits for an element that fits `selector`. */
const probe = (selector: string) => `{
  const told = { shown: null, whole: null, longTasks: [], shift: 0, interactions: [] }
  globalThis.told = told
  const observe = (type, each, more) =>
    new PerformanceObserver((list) => list.getEntries().forEach(each)).observe({ type, buffered: true, ...more })
  observe('longtask', ({ duration }) => told.longTasks.push(duration))
  observe('layout-shift', ({ value, hadRecentInput }) => { if (!hadRecentInput) told.shift += value })
  observe('event', ({ name, duration, interactionId }) => {
    if (interactionId > 0) told.interactions.push({ name, length: duration })
  }, { durationThreshold: 16 })
  const drawn = (then) => requestAnimationFrame(() => setTimeout(then))
  const look = () => {
    const { document } = globalThis
    const found = document.querySelector(${JSON.stringify(selector)}) !== null
    if (found && told.shown === null) drawn(() => { told.shown ??= performance.now() })
    if (!found || document.querySelector('main [class*=_skeleton_]') !== null) return
    looking.disconnect()
    drawn(() => { told.whole = performance.now() })
  }
  const looking = new MutationObserver(look)
  looking.observe(document, { childList: true, subtree: true })
}`

/** A page that is measured. */
export interface MeasuredPage {
  readonly page: Page
  readonly told: () => Promise<Told>
  /** Forgets what was told of tasks, shifts and interactions so far. */
  readonly forget: () => Promise<void>
  /** Milliseconds of processor time that the main thread of the page has used. */
  readonly used: () => Promise<number>
  /** Bytes of live objects, and nodes of documents, without garbage. */
  readonly held: () => Promise<{ readonly heap: number; readonly nodes: number }>
}

/** Opens a path in a new tab, and waits until what it shows is whole. */
export async function openMeasured(context: BrowserContext, path: string, selector: string): Promise<MeasuredPage> {
  const page = await context.newPage()
  const cdp = await context.newCDPSession(page)
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.addInitScript(probe(selector))
  await page.goto(path, { waitUntil: 'commit' })
  const told = () => page.evaluate('told') as Promise<Told>
  const metric = async (wanted: string) => {
    const { metrics } = await cdp.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN
  }
  while ((await told()).whole === null) await page.waitForTimeout(20)
  return {
    page,
    told,
    forget: () => page.evaluate('void Object.assign(told, { longTasks: [], shift: 0, interactions: [] })'),
    used: async () => 1000 * (await metric('TaskDuration')),
    async held() {
      await cdp.send('HeapProfiler.collectGarbage')
      await cdp.send('HeapProfiler.collectGarbage')
      return { heap: await metric('JSHeapUsedSize'), nodes: await metric('Nodes') }
    },
  }
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly args: { readonly name?: string }
  /** Microseconds of processor time. */
  readonly tdur?: number
}

/** The processor time of the longest task of any page while something is done, in milliseconds. */
export async function longestTask(browser: Browser, work: () => Promise<unknown>): Promise<number> {
  await browser.startTracing(undefined, { categories: ['__metadata', 'disabled-by-default-devtools.timeline'] })
  await work()
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { readonly traceEvents: TraceEvent[] }
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const main = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
  const threads = new Set(main.map(threadOf))
  const tasks = traceEvents.filter((event) => event.name === 'RunTask' && threads.has(threadOf(event)))
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur / 1000))
}

/** How smoothly a list scrolled: milliseconds between frames, sorted. */
export interface Scrolling {
  readonly rows: number
  readonly frames: readonly number[]
}

/** Scrolls a list by some rows in every frame, over further pages as they come, down to row `most`. */
export async function scroll({ page }: MeasuredPage, region: string, most: number): Promise<Scrolling> {
  const frames = (await page.evaluate(`new Promise((resolve) => {
    const region = document.querySelector(${JSON.stringify(region)})
    const frames = []
    let last = performance.now()
    const step = (now) => {
      frames.push(now - last)
      last = now
      region.scrollTop += 96
      if (region.scrollTop + region.clientHeight < ${most * 32}) requestAnimationFrame(step)
      else resolve(frames)
    }
    requestAnimationFrame(step)
  })`)) as readonly number[]
  return { rows: most, frames: frames.toSorted((one, other) => one - other) }
}
