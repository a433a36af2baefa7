import { randomUUIDv7 } from 'node:crypto'
import { expect } from 'chai'
import type { Services } from '../../../engine/index.ts'
import { RowWait } from '../../../plugins/routing-records/row-wait.ts'

type Row = NonNullable<Awaited<ReturnType<Services['requests']['row']>>>

/** An id that a request may have which began so long ago, in milliseconds. */
function idFrom(age: number): string {
  const time = (Date.now() - age).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${randomUUIDv7().slice(13)}`
}

describe('a rating whose request has no row', () => {
  const { signal } = new AbortController()
  let looks: number
  /** Finds rows from the given look on. */
  const waiting = (from: number) => {
    looks = 0
    return new RowWait({ row: () => Promise.resolve(++looks >= from ? ({} as Row) : undefined) })
  }

  it('waits for a request that may have just ended', async () => {
    expect(await waiting(3).row(idFrom(1_000), { signal })).not.to.equal(undefined)
    expect(looks).to.equal(3)
    expect(await waiting(2).row(idFrom(59 * 60_000), { signal })).not.to.equal(undefined)
  })

  it('is answered at once if no such request can have its id', async () => {
    const otherVersion = randomUUIDv7().replace(/^(.{14})7/, '$14')
    for (const id of [idFrom(2 * 3_600_000), idFrom(-120_000), 'no id', otherVersion]) {
      expect(await waiting(2).row(id, { signal }), id).to.equal(undefined)
      expect(looks, id).to.equal(1)
    }
  })

  it('is answered at once while too many wait', async () => {
    const leaving = new AbortController()
    const rows = waiting(Infinity)
    const others = Array.from({ length: 100 }, () => rows.row(idFrom(0), leaving).catch(() => undefined))
    await new Promise((resolve) => setImmediate(resolve))
    expect(looks).to.equal(100)
    expect(await rows.row(idFrom(0), { signal })).to.equal(undefined)
    leaving.abort()
    await Promise.all(others)
    expect(await waiting(2).row(idFrom(0), { signal })).not.to.equal(undefined)
  })
})
