import { expect } from 'chai'
import { Keep } from '../../../engine/services/keep.ts'
import type { Lease } from '../../../engine/services/keep.ts'

describe('keep', () => {
  it('makes a thing once and closes the newest first, all of them', async () => {
    const keep = new Keep()
    const closed: string[] = []
    const make = () => ({})
    const kept = keep.lease()
    const first = kept.get('a', make, () => void closed.push('a'))
    expect(kept.get('a', make)).to.equal(first)
    kept.get('b', make, () => Promise.reject(new Error('stuck')))
    kept.get('c', make, async () => {
      await Promise.resolve()
      closed.push('c')
    })
    const error = await keep.close().then(
      () => undefined,
      (thrown: AggregateError) => thrown,
    )
    expect(closed).to.deep.equal(['c', 'a'])
    expect(error?.errors.map(({ message }: Error) => message)).to.deep.equal(['stuck'])
    await keep.close()
    expect(closed).to.deep.equal(['c', 'a'])
  })

  it('closes a thing with the last configuration that used it', async () => {
    const keep = new Keep()
    const closed: string[] = []
    const use = (kept: Lease, key: string) =>
      kept.get(
        key,
        () => ({ key }),
        () => void closed.push(key),
      )
    const [one, two] = [keep.lease(), keep.lease()]
    const shared = use(one, 'shared')
    use(one, 'old')
    use(one, 'older')
    use(one, 'shared')
    expect(use(two, 'shared')).to.equal(shared)
    use(two, 'new')
    await one.close()
    await one.close()
    expect(closed).to.deep.equal(['older', 'old'])
    expect(use(two, 'shared')).to.equal(shared)
    await two.close()
    expect(closed).to.deep.equal(['older', 'old', 'new', 'shared'])
    expect(use(keep.lease(), 'shared')).to.not.equal(shared)
    await keep.close()
    expect(closed.at(-1)).to.equal('shared')
  })
})
