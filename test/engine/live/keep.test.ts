import { expect } from 'chai'
import { Keep } from '../../../engine/live/keep.ts'

describe('keep', () => {
  it('makes a thing once and closes the newest first, all of them', async () => {
    const keep = new Keep()
    const closed: string[] = []
    const make = () => ({})
    const first = keep.get('a', make, () => void closed.push('a'))
    expect(keep.get('a', make)).to.equal(first)
    keep.get('b', make, () => Promise.reject(new Error('stuck')))
    keep.get('c', make, async () => {
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
})
