import { statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { ServiceHost } from '../../engine/index.ts'
import { moduleBeside, timeText } from '../../engine/kit.ts'
import type { Cause } from './cause.ts'
import type { Source } from './sources.ts'

/** Knows the serving processes of this gateway, in the first one. */
export const ends = moduleBeside('ends', import.meta.url)

/** Free share of a disk below which it is told. */
const low = 0.05
/** Milliseconds for which the death of a process is told. */
const recent = 600_000
/** Most deaths of that time that are told, each by itself: processes may die again and again. */
const mostDeaths = 10
/** Most findings of a refused configuration that are told. */
const mostFindings = 5
/** Names of degraded services that tell traces and metrics to others. */
const telemetry = ['traces', 'telemetry', 'metrics']

/** What no other service sees, by what it is about. */
export function ownSources(
  host: Pick<ServiceHost, 'state' | 'rows' | 'keyValue' | 'firstProcess' | 'folder'>,
): Readonly<Record<string, Source>> {
  return {
    stores: { read: () => storesDown(host) },
    reload: { read: () => refused(host.state()) },
    telemetry: { read: () => silentTelemetry(host.state()) },
    disk: { every: 10_000, read: async () => fullDisk(await statfs(host.folder)) },
    processes: { read: () => died(host) },
  }
}

async function storesDown({
  state,
  rows,
  keyValue,
}: Pick<ServiceHost, 'state' | 'rows' | 'keyValue'>): Promise<readonly Cause[]> {
  const isThere = await answers(rows('select 1 as one'))
  const causes = isThere ? [] : [storeDown('database', 'The database')]
  if (!keyValue.shared) return causes
  // A call makes the store notice that it is away, or back.
  const isUp = (await answers(keyValue.get('notifications.probe'))) && !state().degraded.includes('key_value')
  return isUp ? causes : [...causes, storeDown('key_value', 'The key-value store')]
}

/** Milliseconds that a store has. */
const patience = 3_000

async function answers(asked: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve: giveUp } = Promise.withResolvers<boolean>()
  const timer = setTimeout(giveUp, patience, false)
  const answered = asked.then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([answered, late])
  } finally {
    clearTimeout(timer)
  }
}

function storeDown(store: string, subject: string): Cause {
  return { cause: 'store_down', key: `store_down ${store}`, subject, facts: { store }, path: '/configuration' }
}

function refused({ refused: found }: ReturnType<ServiceHost['state']>): readonly Cause[] {
  if (found === undefined) return []
  const { at, findings } = found
  const places = findings
    .slice(0, mostFindings)
    .map(({ file, line, column, code }) => `${file}:${line}:${column} [${code}]`)
  const facts = { findings: findings.length, places }
  const subject = `${places[0] ?? 'Newer files'}${findings.length > 1 ? `, and ${findings.length - 1} more` : ''}`
  // Every process of the gateway reads the same files.
  return [{ cause: 'reload_refused', key: 'reload_refused', subject, facts, since: at, path: '/configuration' }]
}

function silentTelemetry({ degraded }: ReturnType<ServiceHost['state']>): readonly Cause[] {
  const silent = degraded.filter((name) => telemetry.includes(name))
  return silent.map((service) => ({
    cause: 'telemetry_down',
    key: `telemetry_down ${service}`,
    subject: `Nothing takes the ${service === 'telemetry' ? 'traces or metrics' : service} of the gateway`,
    facts: { service },
    path: '/settings/telemetry',
  }))
}

/** Whether a disk is almost full, for those who are not its superuser. */
export function fullDisk({
  blocks,
  bavail,
  bsize,
}: {
  readonly blocks: number
  readonly bavail: number
  readonly bsize: number
}): readonly Cause[] {
  if (blocks === 0 || bavail / blocks >= low) return []
  const host = hostname()
  return [
    {
      cause: 'disk_low',
      key: `disk_low ${host}`,
      subject: `The disk of the gateway's data on ${host}`,
      facts: { host, free_bytes: bavail * bsize, free_share: Number((bavail / blocks).toFixed(3)) },
      path: '/configuration',
    },
  ]
}

async function died({ firstProcess }: Pick<ServiceHost, 'firstProcess'>): Promise<readonly Cause[]> {
  const all = ((await firstProcess?.ask(ends, null)) ?? []) as unknown as readonly number[]
  const lately = all.filter((at) => at > Date.now() - recent)
  const host = hostname()
  return lately.slice(0, mostDeaths).map((at) => ({
    cause: 'worker_died',
    key: `worker_died ${host} ${at}`,
    subject: `A serving process on ${host} ended and was replaced`,
    facts: { host, ended: lately.length, last: timeText(lately.at(-1) ?? at) },
    since: at,
    path: '/configuration',
  }))
}
