import { expect } from 'chai'
import * as fc from 'fast-check'
import type { Pricing, Units, Usage } from '../../../engine/index.ts'
import { costOf, isPlausible, usdOf } from '../../../plugins/pricing/cost.ts'

const NONE: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
const PRICES: Pricing = { input: 0.25, output: 2, cache_read: 0.025, cache_write: 0.3 }
const MIXED: Partial<Usage> = {
  input: 4000,
  inputAudio: 2000,
  inputImage: 1000,
  output: 4000,
  outputAudio: 2000,
  outputImage: 1000,
}
const PARTS: Pricing = { ...PRICES, input_audio: 0.8, input_image: 5, output_audio: 12, output_image: 30 }
const TIERED: Pricing = {
  ...PRICES,
  tiers: [
    { above_input_tokens: 1000, input: 1 },
    { above_input_tokens: 2000, input: 4 },
  ],
}
const BUCKETS = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const
const ALL = [
  ...BUCKETS,
  'cacheWriteHour',
  'inputAudio',
  'inputImage',
  'outputAudio',
  'outputImage',
  'searches',
] as const

describe('plugins/pricing/cost', () => {
  const table: readonly (readonly [string, Partial<Usage>, Pricing | undefined, number | undefined])[] = [
    [
      'a million of each bucket',
      { input: 1e6, cacheRead: 1e6, cacheWrite: 1e6, output: 1e6, reasoning: 1e6 },
      PRICES,
      4_575_000,
    ],
    ['input alone', { input: 1000 }, PRICES, 250],
    ['cache reads alone', { cacheRead: 1000 }, PRICES, 25],
    ['cache writes alone', { cacheWrite: 1000 }, PRICES, 300],
    ['cache writes for an hour', { cacheWrite: 1000, cacheWriteHour: 400 }, { ...PRICES, cache_write_1h: 0.5 }, 380],
    ['cache writes for an hour without a price of their own', { cacheWrite: 1000, cacheWriteHour: 400 }, PRICES, 300],
    ['more of an hour than there is', { cacheWrite: 1, cacheWriteHour: 2 }, PRICES, undefined],
    ['cache reads without a price of their own', { cacheRead: 1000 }, { input: 0.25 }, 250],
    ['cache writes without a price of their own', { cacheWrite: 1000, cacheWriteHour: 400 }, { input: 0.8 }, 1000],
    ['cache reads without any price', { cacheRead: 1000 }, { output: 2 }, undefined],
    ['output alone', { output: 1000 }, PRICES, 2000],
    ['reasoning at the price of output', { reasoning: 1000 }, PRICES, 2000],
    ['reasoning at a price of its own', { output: 1000, reasoning: 1000 }, { ...PRICES, reasoning: 3 }, 5000],
    ['audio and pictures at the prices of their buckets', MIXED, PRICES, 1000 + 8000],
    ['audio and pictures at prices of their own', MIXED, PARTS, 250 + 1600 + 5000 + 2000 + 24_000 + 30_000],
    ['more audio than there is input', { input: 1, inputAudio: 2 }, PARTS, undefined],
    ['more pictures than there is output', { output: 1, outputImage: 2 }, PARTS, undefined],
    ['a request that has a price', { input: 1000 }, { ...PRICES, requests: 0.01 }, 10_250],
    ['a request where nothing else has a price', { input: 1000 }, { requests: 0.01 }, 10_000],
    ['a request that costs nothing', { input: 1000 }, { requests: 0 }, 0],
    ['a request beside tokens without a price', { output: 1 }, { input: 1, requests: 0.01 }, undefined],
    ['searches, each of which has a price', { input: 1000, searches: 3 }, { ...PRICES, searches: 0.01 }, 30_250],
    ['searches that cost nothing', { input: 1000, searches: 3 }, { ...PRICES, searches: 0 }, 250],
    ['searches without a price', { input: 1000, searches: 1 }, PRICES, undefined],
    ['a price of searches where none was made', { input: 1000 }, { ...PRICES, searches: 0.01 }, 250],
    ['searches beside the request', { searches: 2 }, { requests: 0.5, searches: 0.01 }, 520_000],
    ['an input as long as a tier allows', { input: 800, cacheRead: 200 }, TIERED, 205],
    ['all of a request whose input is above a tier', { input: 801, cacheRead: 200, output: 100 }, TIERED, 1006],
    ['the highest of the tiers', { input: 2001, output: 100 }, TIERED, 8204],
    ['tiers without prices beside them', { input: 10 }, { tiers: [{ above_input_tokens: 1, input: 2 }] }, 20],
    [
      'an input below tiers, where nothing else has a price',
      { input: 1 },
      { tiers: [{ above_input_tokens: 1, input: 2 }] },
      undefined,
    ],
    [
      'a request whose input is below the tiers that alone have prices',
      { input: 1 },
      { tiers: [{ above_input_tokens: 1, input: 2 }], requests: 0.5 },
      undefined,
    ],
    [
      'a request that used no tokens, where tiers alone have prices',
      {},
      { tiers: [{ above_input_tokens: 1, input: 2 }], requests: 0.5 },
      500_000,
    ],
    ['a half, rounded up', { input: 2 }, PRICES, 1],
    ['less than a half, rounded down', { input: 1 }, PRICES, 0],
    ['a half that binary fractions miss', { input: 50 }, { input: 0.29 }, 15],
    ['parts that are rounded together', { input: 1, cacheRead: 10 }, PRICES, 1],
    ['nothing used', {}, PRICES, 0],
    ['nothing used, nothing priced', {}, undefined, 0],
    ['a price of nothing', { input: 1e9 }, { input: 0 }, 0],
    ['a missing price of an unused bucket', { input: 4 }, { input: 0.25 }, 1],
    ['a missing price of a used bucket', { input: 4, output: 1 }, { input: 0.25 }, undefined],
    ['reasoning without a price of output', { reasoning: 1 }, { input: 0.25 }, undefined],
    ['no prices at all', { input: 1 }, undefined, undefined],
    ['a price that is no number', { input: 1 }, { input: Number.NaN }, undefined],
    ['a negative price', { input: 1 }, { input: -1 }, undefined],
    ['an endless price', { input: 1 }, { input: Infinity }, undefined],
    ['a huge price', { input: 1 }, { input: 1e300 }, undefined],
    ['a huge price of an unused bucket', { input: 1e9 }, { input: 10, output: 1e300 }, 1e10],
    ['a sum beyond 2^53', { input: Number.MAX_SAFE_INTEGER }, { input: 1000 }, undefined],
    ['the largest count that still fits', { input: Number.MAX_SAFE_INTEGER }, { input: 1 }, Number.MAX_SAFE_INTEGER],
    ['negative tokens', { input: -1 }, PRICES, undefined],
    ['tokens that are no number', { output: Number.NaN }, PRICES, undefined],
    ['endless tokens', { input: Infinity }, PRICES, undefined],
    ['a fraction of a token', { input: 0.5 }, PRICES, undefined],
  ]
  for (const [what, used, pricing, expected] of table) {
    it(`counts ${what}`, () => expect(costOf({ ...NONE, ...used }, pricing)).to.equal(expected))
  }

  const inUnits: readonly (readonly [string, Usage | undefined, Pricing, Units, number | undefined])[] = [
    ['seconds', undefined, { seconds: 0.0001 }, { seconds: 12.345 }, 1235],
    ['images', undefined, { images: 0.04 }, { images: 3 }, 120_000],
    ['images beside the request', undefined, { images: 0.04, requests: 0.5 }, { images: 3 }, 620_000],
    ['the request alone, where nobody knows what it used', undefined, { requests: 0.5 }, {}, 500_000],
    ['a request whose other amount nobody knows', undefined, { seconds: 1, requests: 0.5 }, {}, undefined],
    ['a request whose tokens nobody knows', undefined, { input: 1, requests: 0.5 }, {}, undefined],
    [
      'a request whose tokens nobody knows, where tiers alone have prices',
      undefined,
      { tiers: [{ above_input_tokens: 1, input: 2 }], requests: 0.5 },
      {},
      undefined,
    ],
    [
      'tokens before units, though tiers alone have prices',
      { ...NONE, input: 1 },
      { tiers: [{ above_input_tokens: 1, input: 2 }], seconds: 1 },
      { seconds: 9 },
      undefined,
    ],
    ['characters', undefined, { characters: 15 }, { characters: 101 }, 1515],
    ['no images', undefined, { images: 0.04 }, { images: 0 }, 0],
    ['a price that binary fractions miss', undefined, { images: 0.29 }, { images: 1 }, 290_000],
    ['expensive pictures', undefined, { images: 1_000_000 }, { images: 1 }, 1e12],
    [
      'tokens before units, where they have prices',
      { ...NONE, input: 4 },
      { input: 0.25, seconds: 1 },
      { seconds: 9 },
      1,
    ],
    ['units where tokens have no prices', { ...NONE, input: 4 }, { seconds: 1 }, { seconds: 9 }, 9_000_000],
    ['units where nobody knows the tokens', undefined, { input: 1, images: 1 }, { images: 2 }, 2_000_000],
    [
      'seconds before images and characters',
      undefined,
      { seconds: 1, images: 2, characters: 3 },
      { seconds: 1, images: 1 },
      1_000_000,
    ],
    ['a price whose amount nobody knows', undefined, { seconds: 1, images: 1 }, { images: 1 }, undefined],
    ['units without a price', undefined, {}, { images: 1 }, undefined],
    ['an amount that makes no sense', undefined, { seconds: 1 }, { seconds: -1 }, undefined],
    ['an amount that is no number', undefined, { seconds: 1 }, { seconds: Number.NaN }, undefined],
    ['a price that makes no sense', undefined, { images: -1 }, { images: 1 }, undefined],
    ['nothing that is known', undefined, {}, {}, undefined],
  ]
  for (const [what, usage, pricing, units, expected] of inUnits) {
    it(`counts ${what}`, () => expect(costOf(usage, pricing, units)).to.equal(expected))
  }

  it('is also known in USD, to the last digit', () => {
    expect(usdOf({ ...NONE, input: 188 }, { input: 0.05 })).to.equal(0.0000094)
    expect(usdOf({ ...NONE, input: 1 }, { input: 0.1, requests: 0.000003 })).to.equal(0.0000031)
    expect(usdOf({ ...NONE, input: 1 }, {})).to.equal(undefined)
    expect(usdOf(undefined, { input: 1 })).to.equal(undefined)
    expect(usdOf({ ...NONE, input: -1 }, { input: 1 })).to.equal(undefined)
  })

  it('is a whole number within half a unit of the product, whatever the price', () => {
    const price = fc.integer({ min: 0, max: 1e8 }).map((thousandths) => thousandths / 1000)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e7 }), price, (input, price) => {
        const cost = costOf({ ...NONE, input }, { input: price })
        expect(cost).to.satisfy(Number.isSafeInteger)
        expect(Math.abs(Number(cost) - input * price)).to.be.at.most(0.5 + input * price * 1e-12)
      }),
    )
  })

  it('holds usage plausible when every bucket is a count', () => {
    expect(isPlausible(NONE)).to.equal(true)
    for (const bucket of ALL) {
      for (const wrong of [-1, Number.NaN, Infinity, 1.5, 2 ** 53]) {
        expect(isPlausible({ ...NONE, [bucket]: wrong }), `${bucket} ${wrong}`).to.equal(false)
      }
    }
  })
})
