import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { printDiagnostic } from '../config/diagnostics.ts'
import { loadConfiguration } from '../live/configuration.ts'
import { duration } from '../spec/duration.ts'
import type { Json } from '../spec/json.ts'
import { openDatabase } from '../store/database.ts'
import type { Database } from '../store/database.ts'
import { latestRequests, partsOf, requestOf } from '../store/requests.ts'
import type { RequestFilter, StoredRequest } from '../store/requests.ts'
import { describeRequest, requestLine, requestJson } from './request.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import { printJson } from './text.ts'

export interface LogsOptions extends CommonOptions {
  /** An exchange to tell everything about: its id, or the client's own name for it. */
  readonly id: string | undefined
  readonly follow: boolean
  readonly limit: string
  readonly key?: string
  readonly model?: string
  readonly provider?: string
  readonly type?: string
  readonly status?: string
  readonly failed: boolean
  readonly since?: string
  /** Ends `follow`; default: when nobody reads the output any more. */
  readonly signal?: AbortSignal
}

/** Milliseconds between two looks for new rows. */
const look = 500

/** Rows that one look for new ones takes at most. */
const most = 10_000

/** Milliseconds that a row may come after its end, by the clocks of all machines. */
const late = 10_000

/** Milliseconds that an exchange may have taken: rows are found by when they began. */
const longest = 2 * 60 * 60 * 1000

/** Prints the request log: a line per exchange, or everything about one. Answers 1 when there is no such exchange. */
export async function logs(options: LogsOptions, terminal: Terminal): Promise<number> {
  const { environment, folder } = terminal
  const limit = wholeOf(options.limit)
  const range = { ...statusOf(options.status), ...sinceOf(options.since) }
  const { settings, diagnostics } = await loadConfiguration({ file: options.config, root: folder, environment })
  if (!settings) {
    for (const diagnostic of diagnostics) terminal.error(printDiagnostic(diagnostic))
    return 1
  }
  const database = await openDatabase(settings.database.url)
  try {
    const names = await keyNames(database)
    if (options.id !== undefined) return await one(options.id, options, { database, names, terminal })
    const filter = { ...range, ...textsOf(options), ...keyOf(options.key, names) }
    const show = shower(options.json, names, terminal)
    const rows = await latestRequests(database, filter, limit)
    for (const row of rows.toReversed()) show(row)
    if (rows.length === 0 && !options.json && !options.follow) terminal.out('There is no such request in the log.')
    const shown = new Set(rows.map(({ id }) => id))
    if (options.follow) await follow(database, filter, shown, show, options.signal ?? terminal.unread)
    return 0
  } finally {
    await database.close()
  }
}

/** Shows what has ended since the last look, until the signal comes. */
async function follow(
  database: Database,
  filter: RequestFilter,
  shown: ReadonlySet<string>,
  show: (row: StoredRequest) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  let seen = shown
  let endedSince = Date.now() - late
  do {
    const next = Date.now() - late
    const since = Math.max(filter.since ?? 0, endedSince - longest)
    const rows = await latestRequests(database, { ...filter, since, endedSince }, most)
    for (const row of rows.toReversed()) if (!seen.has(row.id)) show(row)
    seen = new Set(rows.map(({ id }) => id))
    endedSince = next
  } while (await rest(signal))
}

/** Waits for the next look; answers whether there is to be one. */
async function rest(signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await setTimeout(look, undefined, signal ? { signal } : {})
    return true
  } catch (error) {
    if ((error as Error).name === 'AbortError') return false
    throw error
  }
}

interface Looking {
  readonly database: Database
  readonly names: ReadonlyMap<string, string>
  readonly terminal: Terminal
}

async function one(id: string, { json }: LogsOptions, { database, names, terminal }: Looking): Promise<number> {
  const row = await requestOf(database, id)
  if (!row) {
    terminal.error(`sluice: there is no request "${id}" in the log; a row comes a moment after its answer`)
    return 1
  }
  const parts = await partsOf(database, row.id)
  terminal.out(
    json
      ? printJson({ ...requestJson(row, names), parts: parts.map((part) => part.id) })
      : await describeRequest(row, { parts, names, read: sourceIn(terminal) }, terminal),
  )
  return 0
}

/** Reads a file of the configuration; undefined when it is not there any more. */
function sourceIn({ folder }: Terminal): (file: string) => Promise<string | undefined> {
  return (file) => readFile(resolve(folder, file), 'utf8').catch(() => undefined)
}

function shower(json: boolean, names: ReadonlyMap<string, string>, terminal: Terminal): (row: StoredRequest) => void {
  return (row) =>
    terminal.out(json ? JSON.stringify(requestJson(row, names) satisfies Json) : requestLine(row, names, terminal))
}

async function keyNames({ query }: Database): Promise<ReadonlyMap<string, string>> {
  const keys = await query.selectFrom('api_keys').select(['id', 'name']).execute()
  return new Map(keys.map(({ id, name }) => [id, name]))
}

/** The id of the key that is meant by its name or its id. A declared key has its name for an id. */
function keyOf(key: string | undefined, names: ReadonlyMap<string, string>): RequestFilter {
  if (key === undefined) return {}
  if (names.has(key)) return { keyId: key }
  const [id] = [...names].find(([, name]) => name === key) ?? []
  return { keyId: id ?? `file:${key}` }
}

function textsOf({ model, provider, type, failed }: LogsOptions): RequestFilter {
  return {
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(type === undefined ? {} : { type }),
    failed,
  }
}

function wholeOf(text: string): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 0 || limit > 10_000) throw new WrongUse('--limit takes a number up to 10000')
  return limit
}

/** `404`, or `4xx` for a class. */
function statusOf(text: string | undefined): RequestFilter {
  if (text === undefined) return {}
  const [, first, rest] = /^([1-5])(\d\d|xx)$/.exec(text) ?? []
  if (first === undefined || rest === undefined)
    throw new WrongUse('--status takes a status such as 429, or a class such as 5xx')
  const low = rest === 'xx' ? Number(first) * 100 : Number(text)
  return { status: [low, rest === 'xx' ? low + 99 : low] }
}

/** A duration before now, or a date. */
function sinceOf(text: string | undefined): RequestFilter {
  if (text === undefined) return {}
  const since = /^\d+(ms|s|m|h|d)$/.test(text) ? Date.now() - duration(text) : Date.parse(text)
  if (Number.isNaN(since))
    throw new WrongUse('--since takes a duration such as 15m, or a date such as 2027-01-31T12:00:00Z')
  return { since }
}
