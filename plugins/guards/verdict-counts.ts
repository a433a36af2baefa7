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

interface Sum {
  readonly day: string
  readonly verdict: CountedVerdict
  verdicts: number
  microseconds: number
  most: number
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
    const day = new Date().toISOString().slice(0, 10)
    const key = `${day} ${guard} ${side} ${shadow} ${outcome}`
    let sum = this.#sums.get(key)
    if (!sum) this.#sums.set(key, (sum = { day, verdict, verdicts: 0, microseconds: 0, most: 0 }))
    const microseconds = Math.round(milliseconds * 1_000)
    sum.verdicts += 1
    sum.microseconds += microseconds
    sum.most = Math.max(sum.most, microseconds)
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
      const oldest = new Date(Date.now() - kept * 86_400_000).toISOString().slice(0, 10)
      await database.deleteFrom('guards_verdicts').where('day', '<', oldest).execute()
    } catch (error) {
      log.error({ err: error }, 'figures of guards could not be stored')
    }
  }
}

function keyOf(row: { readonly [column: string]: string | number }): string {
  return [row['day'], row['guard'], row['side'], row['shadow'], row['outcome']].join(' ')
}

/** Microseconds as milliseconds. */
function rounded(microseconds: number): number {
  return Math.round(microseconds) / 1_000
}
