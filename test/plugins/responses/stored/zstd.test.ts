import { expect } from 'chai'
import { compress, decompress } from '../../../../plugins/responses/stored/zstd.ts'

describe('zstd', () => {
  it('gives back what it was given, small or large', async () => {
    for (const length of [0, 1, 64 * 1024, 64 * 1024 + 1]) {
      const bytes = Buffer.alloc(length, 'Hello')
      expect((await decompress(await compress(bytes), { maxOutputLength: length || 1 })).equals(bytes)).to.equal(true)
    }
  })

  it('makes no more bytes than it may', async () => {
    const packed = await compress(Buffer.alloc(100_000))
    const refused = await decompress(packed, { maxOutputLength: 99_999 }).catch((error: Error) => error)
    expect(refused).to.be.an.instanceOf(RangeError)
  })
})
