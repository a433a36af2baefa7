import type { ServiceHost } from '../../engine/index.ts'
import type { CountedVerdict } from './exchange.ts'

/** The verdicts of one day, of one guard on one side with one outcome. */
export interface VerdictDay {
  readonly day: string
  readonly guard: string
  readonly side: string
  readonly shadow: boolean
  readonly outcome: string
  readonly verdicts: number
  /** Mean and longest time of a judgement. */
  readonly milliseconds: number
  readonly longest: number
}

/** What a guard did on one side over some days, live or in shadow. Times are in milliseconds. */
export interface GuardFigures {
  readonly guard: string
  readonly side: string
  readonly shadow: boolean
  readonly verdicts: number
  /** Judgements that found something. */
  readonly hits: number
  readonly errors: number
  /** Up to 19 % above what they were. */
  readonly p50: number | null
  readonly p95: number | null
  readonly longest: number
}

interface Sum {
  readonly day: string
  readonly verdict: CountedVerdict
  verdicts: number
  microseconds: number
  most: number
  /** How many judgements there are in each bucket of time. */
  readonly times: Map<number, number>
}

/** Milliseconds between two writes of what was counted. */
const pause = 5_000

/** Days after which sums are deleted. */
const kept = 400

/** Counts verdicts in memory, and adds them to the sums of all processes. A killed process loses those of 5 seconds. */
export class VerdictCounts {
  readonly #host: ServiceHost
  #sums = new Map<string, Sum>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(host: ServiceHost) {
    this.#host = host
  }

  add(verdict: CountedVerdict): void {
    const { guard, side, shadow, outcome, milliseconds } = verdict
    const now = Date.now()
    const key = `${Math.floor(now / 86_400_000)} ${guard} ${side} ${shadow} ${outcome}`
    let sum = this.#sums.get(key)
    if (!sum) {
      const day = new Date(now).toISOString().slice(0, 10)
      this.#sums.set(key, (sum = { day, verdict, verdicts: 0, microseconds: 0, most: 0, times: new Map() }))
    }
    const microseconds = Math.round(milliseconds * 1_000)
    sum.verdicts += 1
    sum.microseconds += microseconds
    sum.most = Math.max(sum.most, microseconds)
    const bucket = Math.ceil(4 * Math.log2(Math.max(1, microseconds)))
    sum.times.set(bucket, (sum.times.get(bucket) ?? 0) + 1)
    this.#timer ??= setTimeout(() => void this.#write(), pause).unref()
  }

  /** The sums since a day, also of other processes. */
  async days(since: string): Promise<readonly VerdictDay[]> {
    await this.#write()
    const rows = await this.#host.database
      .selectFrom('guards_verdicts')
      .selectAll()
      .where('day', '>=', since)
      .orderBy('day', 'desc')
      .orderBy('guard')
      .orderBy('side')
      .orderBy('shadow')
      .orderBy('outcome')
      .execute()
    return rows.map(({ day, guard, side, shadow, outcome, verdicts, microseconds, most_microseconds: most }) => ({
      day,
      guard,
      side,
      shadow: shadow === 1,
      outcome,
      verdicts,
      milliseconds: rounded(microseconds / verdicts),
      longest: rounded(most),
    }))
  }

  /** What each guard did since a day, also in other processes. */
  async figures(since: string): Promise<readonly GuardFigures[]> {
    await this.#write()
    const { database } = this.#host
    const { sql } = await import('kysely')
    const [sums, times] = await Promise.all([
      database
        .selectFrom('guards_verdicts')
        .select(['guard', 'side', 'shadow'])
        .select(({ fn }) => [
          fn.sum<number | string>('verdicts').as('verdicts'),
          sql<number | string>`sum(case when outcome in ('passed', 'error') then 0 else verdicts end)`.as('hits'),
          sql<number | string>`sum(case when outcome = 'error' then verdicts else 0 end)`.as('errors'),
          fn.max('most_microseconds').as('most'),
        ])
        .where('day', '>=', since)
        .groupBy(['guard', 'side', 'shadow'])
        .orderBy('guard')
        .orderBy('side')
        .orderBy('shadow')
        .execute(),
      database
        .selectFrom('guards_times')
        .select(['guard', 'side', 'shadow', 'bucket'])
        .select(({ fn }) => fn.sum<number | string>('verdicts').as('verdicts'))
        .where('day', '>=', since)
        .groupBy(['guard', 'side', 'shadow', 'bucket'])
        .orderBy('bucket')
        .execute(),
    ])
    const placeOf = (row: { readonly guard: string; readonly side: string; readonly shadow: number }) =>
      `${row.guard} ${row.side} ${row.shadow}`
    const timesOf = Map.groupBy(times, placeOf)
    return sums.map((row) => {
      const own = timesOf.get(placeOf(row)) ?? []
      const longest = row.most
      return {
        guard: row.guard,
        side: row.side,
        shadow: row.shadow === 1,
        verdicts: Number(row.verdicts),
        hits: Number(row.hits),
        errors: Number(row.errors),
        p50: percentile(own, 0.5, longest),
        p95: percentile(own, 0.95, longest),
        longest: rounded(longest),
      }
    })
  }

  async close(): Promise<void> {
    await this.#write()
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const sums = [...this.#sums.values()]
    this.#sums = new Map()
    // In turn, and in one order: processes that write at once would wait for each other.
    this.#writing = this.#writing.then(() => this.#store(sums))
    return this.#writing
  }

  async #store(sums: readonly Sum[]): Promise<void> {
    if (sums.length === 0) return
    const { database, log } = this.#host
    const values = sums
      .map(({ day, verdict, verdicts, microseconds, most }) => ({
        day,
        guard: verdict.guard,
        side: verdict.side,
        shadow: verdict.shadow ? 1 : 0,
        outcome: verdict.outcome,
        verdicts,
        microseconds,
        most_microseconds: most,
      }))
      .toSorted((left, right) => keyOf(left).localeCompare(keyOf(right)))
    try {
      await database
        .insertInto('guards_verdicts')
        .values(values)
        .onConflict((conflict) =>
          conflict.columns(['day', 'guard', 'side', 'shadow', 'outcome']).doUpdateSet((all) => ({
            verdicts: all('guards_verdicts.verdicts', '+', all.ref('excluded.verdicts')),
            microseconds: all('guards_verdicts.microseconds', '+', all.ref('excluded.microseconds')),
            most_microseconds: all
              .case()
              .when('guards_verdicts.most_microseconds', '<', all.ref('excluded.most_microseconds'))
              .then(all.ref('excluded.most_microseconds'))
              .else(all.ref('guards_verdicts.most_microseconds'))
              .end(),
          })),
        )
        .execute()
      await database
        .insertInto('guards_times')
        .values(timesIn(sums))
        .onConflict((conflict) =>
          conflict
            .columns(['day', 'guard', 'side', 'shadow', 'bucket'])
            .doUpdateSet((all) => ({ verdicts: all('guards_times.verdicts', '+', all.ref('excluded.verdicts')) })),
        )
        .execute()
      const oldest = new Date(Date.now() - kept * 86_400_000).toISOString().slice(0, 10)
      await database.deleteFrom('guards_verdicts').where('day', '<', oldest).execute()
      await database.deleteFrom('guards_times').where('day', '<', oldest).execute()
    } catch (error) {
      log.error({ err: error }, 'figures of guards could not be stored')
    }
  }
}

/** The rows of times, whatever followed, in the order in which all processes write them. */
function timesIn(sums: readonly Sum[]) {
  const rows = new Map<
    string,
    Readonly<Record<'day' | 'guard' | 'side', string>> & Record<'shadow' | 'bucket' | 'verdicts', number>
  >()
  for (const { day, verdict, times } of sums)
    for (const [bucket, verdicts] of times) {
      const { guard, side } = verdict
      const row = { day, guard, side, shadow: verdict.shadow ? 1 : 0, bucket, verdicts }
      const key = keyOf({ ...row, outcome: String(bucket).padStart(3, '0') })
      rows.set(key, { ...row, verdicts: verdicts + (rows.get(key)?.verdicts ?? 0) })
    }
  return [...rows].toSorted(([left], [right]) => left.localeCompare(right)).map(([, row]) => row)
}

/** The end of the bucket in which a percentile is, in milliseconds; null: nothing was judged. Buckets ascend. */
function percentile(
  times: readonly { readonly bucket: number; readonly verdicts: number | string }[],
  part: number,
  longest: number,
): number | null {
  const all = times.reduce((sum, { verdicts }) => sum + Number(verdicts), 0)
  let before = 0
  const found = times.find(({ verdicts }) => (before += Number(verdicts)) >= part * all)
  return found ? rounded(Math.min(2 ** (found.bucket / 4), longest)) : null
}

function keyOf(row: { readonly [column: string]: string | number }): string {
  return [row['day'], row['guard'], row['side'], row['shadow'], row['outcome']].join(' ')
}

/** Microseconds as milliseconds. */
function rounded(microseconds: number): number {
  return Math.round(microseconds) / 1_000
}
