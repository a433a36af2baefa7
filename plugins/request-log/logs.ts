import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Refusal, defineCommand } from '../../engine/index.ts'
import { duration, isDuration, printJson } from '../../engine/kit.ts'
import type { CommandOutput, ConfigOf, Json } from '../../engine/index.ts'
import type { RequestFilter } from './find.ts'
import type { Requests } from './requests.ts'
import type { RequestsTable } from './table.ts'
import { describeRequest, requestJson, requestLine } from './describe.ts'

/** Rows that are shown at most, and those that one look for new ones takes. */
const most = 10_000

const only = (description: string) => ({ type: 'string', description: `Only those ${description}` }) as const

const options = {
  type: 'object',
  additionalProperties: false,
  properties: {
    id: { type: 'string', description: "The id of a request (x-request-id), or the client's own name for it." },
    follow: { type: 'boolean', default: false, description: 'Go on with new requests as they end.' },
    limit: {
      type: 'integer',
      minimum: 0,
      maximum: most,
      default: 20,
      description: 'How many of the latest requests to show.',
    },
    key: only('of an API key, by name or id.'),
    model: only('that asked for a model or were served by it.'),
    provider: only('that a provider served.'),
    type: only('of a type, such as chat.'),
    status: only('with a status, such as 429 or 5xx.'),
    failed: { type: 'boolean', default: false, description: 'Only those that did not complete.' },
    since: only('since a date, or since a duration such as 15m.'),
  },
} as const

/** Milliseconds between two looks for new rows. */
const look = 500

/** Milliseconds that a row may come after its end, by the clocks of all machines. */
const late = 10_000

/** Milliseconds that an exchange may have taken: rows are found by when they began. */
const longest = 2 * 60 * 60 * 1000

/** Names of API keys by their ids. */
type Names = ReadonlyMap<string, string>

/** Prints the request log: a line per exchange, or everything about one. Answers 1 when there is no such exchange. */
export default defineCommand({
  name: 'logs',
  summary: 'Show the request log: a line per request, or everything about one.',
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
    const names = new Map((await keys.stored()).map(({ id: key, name }) => [key, name]))
    if (id !== undefined) return one(id, requests, names, output)
    const filter = { ...range, ...textsOf(wanted), ...keyOf(wanted.key, names) }
    const show = shower(names, output)
    const rows = await requests.latest(filter, limit)
    for (const row of rows.toReversed()) show(row)
    if (rows.length === 0 && !output.json && !follow) output.out('There is no such request in the log.')
    if (follow) await showNew(requests, filter, new Set(rows.map((row) => row.id)), show, output.unread)
    return 0
  },
})

/** Shows what has ended since the last look, until the signal comes. */
async function showNew(
  requests: Requests,
  filter: RequestFilter,
  shown: ReadonlySet<string>,
  show: (row: RequestsTable) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  let seen = shown
  let endedSince = Date.now() - late
  do {
    const next = Date.now() - late
    const since = Math.max(filter.since ?? 0, endedSince - longest)
    const rows = await requests.latest({ ...filter, since, endedSince }, most)
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

async function one(
  id: string,
  requests: Requests,
  names: Names,
  { json, out, error, style, folder }: CommandOutput,
): Promise<number> {
  const row = await requests.find(id)
  if (!row) {
    error(`sluice: there is no request "${id}" in the log; a row comes a moment after its answer`)
    return 1
  }
  const parts = await requests.partsOf(row.id)
  // A file of the configuration may not be there any more.
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

/** The id of the key that is meant by its name or its id. A declared key has its name for an id. */
function keyOf(key: string | undefined, names: Names): RequestFilter {
  if (key === undefined) return {}
  if (names.has(key)) return { keyId: key }
  const [id] = [...names].find(([, name]) => name === key) ?? []
  return { keyId: id ?? `file:${key}` }
}

type Wanted = Pick<ConfigOf<typeof options>, 'model' | 'provider' | 'type' | 'failed'>

function textsOf({ model, provider, type, failed }: Wanted): RequestFilter {
  return {
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(type === undefined ? {} : { type }),
    failed,
  }
}

/** `404`, or `4xx` for a class. */
function statusOf(text: string | undefined): RequestFilter {
  if (text === undefined) return {}
  const [, first, rest] = /^([1-5])(\d\d|xx)$/.exec(text) ?? []
  if (first === undefined || rest === undefined)
    throw new Refusal('--status takes a status such as 429, or a class such as 5xx')
  const low = rest === 'xx' ? Number(first) * 100 : Number(text)
  return { status: [low, rest === 'xx' ? low + 99 : low] }
}

/** A duration before now, or a date. */
function sinceOf(text: string | undefined): RequestFilter {
  if (text === undefined) return {}
  const since = isDuration(text) ? Date.now() - duration(text) : Date.parse(text)
  if (Number.isNaN(since))
    throw new Refusal('--since takes a duration such as 15m, or a date such as 2027-01-31T12:00:00Z')
  return { since }
}
