import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { pieceOfList } from '../../../plugins/catalog/in-pieces.ts'
import { listedFinder } from '../../../plugins/catalog/match-listed.ts'
import { readPriceList } from '../../../plugins/catalog/price-list.ts'

const count = 10 * pieceOfList
const ids = Array.from({ length: count }, (_, at) => `model-${at}`)

/** Runs work, and tells how often `touch` was called between two turns of the loop, at most. */
async function mostAtOnce<T>(
  work: (touch: () => void) => Promise<T>,
): Promise<{ readonly most: number; readonly result: T }> {
  let most = 0
  let now = 0
  let isOver = false
  const turn = () => {
    now = 0
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const result = await work(() => (most = Math.max(most, ++now)))
  isOver = true
  return { most, result }
}

/** An object that tells when a field of it is read. */
const watched = (fields: JsonObject, name: string, touch: () => void): JsonObject =>
  Object.defineProperty({ ...fields }, name, {
    enumerable: true,
    get: () => {
      touch()
      return fields[name]
    },
  })

describe('a public list of prices with very many entries', () => {
  // Two pieces may follow each other between two turns of the test.
  const limit = 2 * pieceOfList

  it('is read in pieces, by vendor and as a flat map', async () => {
    const byVendor = (touch: () => void) => {
      const models = ids.map((id) => [id, watched({ cost: { input: 1 } }, 'cost', touch)])
      return readPriceList({ vendor: { models: Object.fromEntries(models) as JsonObject } })
    }
    const flat = (touch: () => void) => {
      const entries = ids.map((id) => [`v/${id}`, watched({ litellm_provider: 'v' }, 'litellm_provider', touch)])
      return readPriceList(Object.fromEntries(entries) as JsonObject)
    }
    for (const read of [byVendor, flat]) {
      const { most, result } = await mostAtOnce(read)
      expect(result).to.have.length(count)
      expect(most).to.be.within(1, limit)
    }
  })

  it('is made ready to be searched in pieces', async () => {
    const { most, result: find } = await mostAtOnce((touch) =>
      listedFinder(
        ids.map((model) => ({
          vendor: 'v',
          facts: { pricing: {} },
          get model() {
            touch()
            return model
          },
        })),
      ),
    )
    expect(most).to.be.within(1, 2 * limit)
    expect(find(undefined, 'model-7')?.vendor).to.equal('v')
  })
})
