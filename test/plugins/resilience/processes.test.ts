import { mock } from 'node:test'
import { expect } from 'chai'
import { Processes } from '../../../plugins/resilience/processes.ts'
import type { ResetsTable } from '../../../plugins/resilience/table.ts'

const hour = 3_600_000

describe('plugins/resilience/processes', () => {
  let resets: ResetsTable[]
  let statements: string[]
  let applied: object[]
  let processes: Processes
  /** Milliseconds that have gone by, whatever the clock says. */
  let elapsed: number
  let tick: () => void
  beforeEach(() => {
    elapsed = 0
    mock.method(performance, 'now', () => elapsed)
    mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 5, 1, 12) })
    ;[resets, statements, applied] = [[], [], []]
    const rows = (statement: string) => {
      statements.push(statement)
      const since = Number(/at >= (\d+)/.exec(statement)?.[1] ?? 0)
      return Promise.resolve(statement.startsWith('select') ? resets.filter(({ at }) => at >= since) : [])
    }
    processes = new Processes({ rows } as never, {
      tell: () => ({ breakers: [], keys: [] }),
      reset: (reset) => applied.push(reset),
    })
    // Nothing else may begin while the timer is replaced.
    const timer = mock.method(globalThis, 'setInterval', (look: () => void) => {
      tick = look
      return { unref: () => undefined }
    })
    processes.start()
    timer.mock.restore()
  })
  afterEach(async () => {
    await processes.close()
    mock.timers.reset()
    mock.restoreAll()
  })

  const announced = (id: string, at = Date.now()) => resets.push({ id, at, provider: id, model: null })
  const look = async () => {
    elapsed += 500
    mock.timers.tick(500)
    tick()
    // Everything that a look waits for is answered at once.
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
  const names = () => applied.map((reset) => (reset as { provider: string }).provider)

  it('applies the resets of other processes once, and none from before it began', async () => {
    announced('early', Date.now() - 1)
    announced('own')
    for (let looks = 0; looks < 500; looks++) await look()
    expect(names()).to.deep.equal(['own'])
  })

  for (const [name, step] of [
    ['back', -hour],
    ['forward', hour],
  ] as const)
    it(`applies them after the clock was set ${name}, too`, async () => {
      announced('first')
      await look()
      mock.timers.setTime(Date.now() + step)
      announced('second')
      for (let looks = 0; looks < 500; looks++) await look()
      expect(names()).to.deep.equal(['first', 'second'])
    })
})
