import { expect } from 'chai'
import { pino } from 'pino'
import type { Giving, SharedCounters, Settling } from '../../../plugins/limits/counters.ts'
import { FailoverCounters } from '../../../plugins/limits/failover-counters.ts'
import { Holds } from '../../../plugins/limits/holds.ts'
import type { Ledger, Wanted } from '../../../plugins/limits/ledger.ts'
import { MemoryCounters } from '../../../plugins/limits/memory-counters.ts'
import { until } from '../../support/until.ts'

/** Shared counters that can be away, and note what they are told. */
class Away extends MemoryCounters {
  isAway = false
  readonly told: string[] = []
  /** Ends that are being told, and at most at once. */
  readonly #telling = { now: 0, most: 0 }

  get most(): number {
    return this.#telling.most
  }

  override give(giving: Giving): never {
    return this.#tell(`give ${giving.id}`, () => super.give(giving)) as never
  }

  override settle(settling: Settling): never {
    return this.#tell(`settle ${settling.id} ${settling.micros}`, () => super.settle(settling)) as never
  }

  async greet(): Promise<void> {
    await this.answers()
  }

  async processes(): Promise<number> {
    await this.answers()
    return 1
  }

  async answers(): Promise<void> {
    await Promise.resolve()
    if (this.isAway) throw new Error('away')
  }

  async #tell<T>(call: string, tell: () => T): Promise<T> {
    this.#telling.most = Math.max(this.#telling.most, ++this.#telling.now)
    await this.answers().finally(() => this.#telling.now--)
    this.told.push(call)
    return tell()
  }
}

describe('plugins/limits/missed-calls', () => {
  const budgets = [{ bucket: 'key:a', budget: { usd: 1_000, period: 'total' } }] as const
  const places = [{ bucket: 'key:a', limit: 10_000 }]
  let store: Away
  let counting: FailoverCounters
  beforeEach(() => {
    store = new Away()
    const shared = new Proxy(store, {
      get(target, name) {
        const found: unknown = Reflect.get(target, name, target)
        if (typeof found !== 'function') return found
        // Every call is asynchronous, and rejects while they are away.
        return async (...given: unknown[]) => {
          await target.answers()
          return (found as (...all: unknown[]) => unknown).apply(target, given)
        }
      },
    }) as unknown as SharedCounters
    const spent = async (wanted: readonly Wanted[]) =>
      wanted.map(({ bucket, period, start }) => ({ bucket, period, since: start, spent: 0 }))
    counting = new FailoverCounters({
      ledger: { spent } as unknown as Ledger,
      log: pino({ level: 'silent' }),
      holds: new Holds(),
      shared,
    })
  })
  afterEach(() => counting.close())

  const begin = async (id: string) => {
    const { by } = await counting.take({ id, lasts: 60_000, rates: [], places })
    await counting.reserve({ id, lasts: 60_000, isRun: false, budgets, estimates: [10], input: 1 })
    return by
  }
  const end = async (id: string, by: 'usual' | 'local' | 'nobody') => {
    await counting.give({ id, rates: [], places: ['key:a'] }, by)
    await counting.settle({ id, sums: ['key:a'], micros: 7 })
  }
  const isBack = async () => {
    store.isAway = false
    await until(async () => (await counting.take({ id: 'probe', lasts: 1, rates: [], places: [] })).by === 'usual')
  }

  it('are those alone of exchanges of which the counters know, however many run meanwhile', async () => {
    const before = await begin('before')
    store.isAway = true
    for (let count = 0; count < 500; count++) await end(`meanwhile ${count}`, await begin(`meanwhile ${count}`))
    await end('before', before)
    await isBack()
    await until(() => store.told.includes('settle before 7'))
    // The call that found them away may have had its effect, and gives back what it took.
    const first = ['give meanwhile 0', 'give meanwhile 0', 'settle meanwhile 0 7']
    expect(store.told).to.have.members([...first, 'give before', 'settle before 7'])
    expect((await counting.read(budgets))[0]).to.include({ held: 0, spent: 7 })
  })

  it('are told many at once, and not all', async () => {
    const ids = Array.from({ length: 450 }, (_, at) => `running ${at}`)
    for (const id of ids) await begin(id)
    store.isAway = true
    for (const id of ids) await end(id, 'usual')
    await isBack()
    await until(() => store.told.filter((call) => call.startsWith('settle running')).length === 450)
    expect(store.most).to.be.within(2, 200)
    expect((await counting.read(budgets))[0]).to.include({ held: 0, spent: 450 * 7 })
  })
})
