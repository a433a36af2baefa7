import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Refusal, defineCommand } from '../../engine/index.ts'
import { duration, isDuration, printJson } from '../../engine/kit.ts'
import type { CommandOutput, ConfigOf, Json } from '../../engine/index.ts'
import { statusRange } from './filter.ts'
import type { RequestFilter } from './filter.ts'
import type { Requests } from './requests.ts'
import type { RequestsTable } from './table.ts'
import { describeRequest, requestJson, requestLine } from './describe.ts'

/** Most rows in one output, and in one check for new rows. */
const most = 10_000

const only = (description: string) => ({ type: 'string', description: `Only those ${description}` }) as const

const options = {
  type: 'object',
  additionalProperties: false,
  properties: {
    id: {
      type: 'string',
      description: 'The id of a request (x-request-id of its answer), or the x-request-id of its client.',
    },
    follow: { type: 'boolean', default: false, description: 'Keep running and show new requests as they end.' },
    limit: {
      type: 'integer',
      minimum: 0,
      maximum: most,
      default: 20,
      description: 'Number of the latest requests to show.',
    },
    key: only('of an API key, by name or id.'),
    model: only('for a model, requested or served.'),
    provider: only('served by a provider.'),
    type: only('of a type, such as chat.'),
    status: only('with a status, such as 429 or 5xx.'),
    failed: { type: 'boolean', default: false, description: 'Only those that did not complete.' },
    since: only('since a date, or since a duration such as 15m.'),
  },
} as const

/** Milliseconds between two checks for new rows. */
const look = 500

/** Longest delay of a row after the end of its exchange, in milliseconds, including clock differences. */
const late = 10_000

/** Said when a check for new rows cannot see all of them. */
const crowded = `sluice: ${most} requests ended within ${late / 1_000} seconds; older ones of these are not shown`

/** Names of API keys by their ids. */
type Names = ReadonlyMap<string, string>

/**
 * Prints the request log: a line per exchange, or all details of one. Returns 1 if there is no such exchange, or if
 * the log cannot be read.
 */
export default defineCommand({
  name: 'logs',
  summary: 'Show the request log: a line per request, or all details of one.',
  options,
  arguments: ['id'],
  words: {
    follow: { short: 'f' },
    limit: { value: 'number' },
    key: { value: 'name' },
    model: { value: 'name' },
    provider: { value: 'name' },
    since: { value: 'when' },
  },
  uses: ['requests', 'api_keys'],
  async run({ id, follow, limit, ...wanted }, { requests, api_keys: keys }, output) {
    const range = { ...statusOf(wanted.status), ...sinceOf(wanted.since) }
    try {
      const names = new Map((await fromLog(keys.stored())).map(({ id: key, name }) => [key, name]))
      if (id !== undefined) return await one(id, requests, names, output)
      const filter = { ...range, ...filterOf(wanted, names) }
      const show = shower(names, output)
      if (follow) return await showNew(requests, filter, limit, show, output)
      const rows = await fromLog(requests.latest(filter, limit))
      for (const row of rows.toReversed()) show(row)
      if (rows.length === 0 && !output.json) output.out('There is no matching request in the log.')
      return 0
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      output.error(`sluice: ${error.message}`)
      return 1
    }
  },
})

/** The rows cannot be read, for example because their table is missing. */
class Unreadable extends Error {
  constructor(cause: unknown) {
    const { message, code } = cause as Error & { readonly code?: string }
    super(`the request log cannot be read: ${message || code}`, { cause })
  }
}

async function fromLog<T>(rows: Promise<T>): Promise<T> {
  try {
    return await rows
  } catch (error) {
    throw new Unreadable(error)
  }
}

/** Shows the latest exchanges, then those that have ended since the last check, until the signal. */
async function showNew(
  requests: Requests,
  filter: RequestFilter,
  limit: number,
  show: (row: RequestsTable) => void,
  { error, unread }: CommandOutput,
): Promise<number> {
  let seen: ReadonlySet<string> | undefined
  let endedSince = Date.now() - late
  let failing = false
  let isCrowded = false
  let failedAt = 0
  do {
    const now = Date.now()
    try {
      const recent = await fromLog(requests.latest({ ...filter, endedSince }, most))
      const known = seen
      if (recent.length === most && !isCrowded) error(crowded)
      isCrowded = recent.length === most
      const rows = known ? recent.filter(({ id }) => !known.has(id)) : await fromLog(requests.latest(filter, limit))
      for (const row of rows.toReversed()) show(row)
      seen = new Set([...recent, ...rows].map(({ id }) => id))
      // Rows that waited for the log are written shortly after it is back.
      if (now - failedAt > late) endedSince = now - late
      failing = false
    } catch (problem) {
      if (!(problem instanceof Unreadable)) throw problem
      if (!failing) error(`sluice: ${problem.message}; trying again`)
      failing = true
      failedAt = Date.now()
    }
  } while (await rest(unread))
  return 0
}

/** Waits for the next check. Resolves to false after the signal. */
async function rest(signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await setTimeout(look, undefined, signal ? { signal } : {})
    return true
  } catch (error) {
    if ((error as Error).name === 'AbortError') return false
    throw error
  }
}

async function one(
  id: string,
  requests: Requests,
  names: Names,
  { json, out, error, style, folder }: CommandOutput,
): Promise<number> {
  const row = await fromLog(requests.find(id))
  if (!row) {
    error(`sluice: there is no request "${id}" in the log; the row of a request follows shortly after its answer`)
    return 1
  }
  const parts = await fromLog(requests.partsOf(row.id))
  // The configuration file may no longer exist.
  const read = (file: string) => readFile(resolve(folder, file), 'utf8').catch(() => undefined)
  out(
    json
      ? printJson({ ...requestJson(row, names), parts: parts.map((part) => part.id) })
      : await describeRequest(row, { parts, names, read }, style),
  )
  return 0
}

function shower(names: Names, { json, out, style }: CommandOutput): (row: RequestsTable) => void {
  return (row) => out(json ? JSON.stringify(requestJson(row, names) satisfies Json) : requestLine(row, names, style))
}

type Wanted = Pick<ConfigOf<typeof options>, 'key' | 'model' | 'provider' | 'type' | 'failed'>

function filterOf({ key, model, provider, type, failed }: Wanted, names: Names): RequestFilter {
  const any = (value: string | undefined) => (value === undefined ? undefined : [value])
  return {
    words: { key: any(keyId(key, names)), provider: any(provider), type: any(type) },
    anyModel: model,
    failed,
  }
}

/** The id of a key that is given by name or id. The id of a declared key is derived from its name. */
function keyId(key: string | undefined, names: Names): string | undefined {
  if (key === undefined || names.has(key)) return key
  const [id] = [...names].find(([, name]) => name === key) ?? []
  return id ?? `file:${key}`
}

/** `404`, or `4xx` for a class. */
function statusOf(text: string | undefined): RequestFilter {
  if (text === undefined) return {}
  const range = statusRange(text)
  if (range) return { statuses: [range] }
  throw new Refusal('--status takes a status such as 429, or a class such as 5xx')
}

/** A duration before now, or a date. */
function sinceOf(text: string | undefined): RequestFilter {
  if (text === undefined) return {}
  const since = isDuration(text) ? Date.now() - duration(text) : Date.parse(text)
  if (Number.isNaN(since))
    throw new Refusal('--since takes a duration such as 15m, or a date such as 2027-01-31T12:00:00Z')
  return { since }
}
