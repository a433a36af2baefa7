import { expect } from 'chai'
import fc from 'fast-check'
import type { GenerateEvent } from '../../../engine/index.ts'
import { Rig, everyClient, gate, later, textsOf } from './rig.ts'

const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }

/** A text and where it is cut. */
const cutTexts = fc
  .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), fc.array(fc.nat(), { maxLength: 20 }))
  .map(([text, places]) => {
    const cuts = [...new Set([0, ...places.map((place) => place % text.length), text.length])].sort((a, b) => a - b)
    return cuts.slice(1).map((end, at) => text.slice(cuts[at], end))
  })

const windows = fc.record({
  characters: fc.constantFrom(0, 1, 2, 7, 50, 1_000, Infinity),
  overlap: fc.constantFrom(0, 1, 5, 500),
})

describe('a gate that lets everything pass', () => {
  const rig = new Rig()

  it('gives the same text, however it is cut over events', async () => {
    await fc.assert(
      fc.asyncProperty(
        cutTexts,
        windows,
        windows,
        fc.boolean(),
        fc.constantFrom(...everyClient),
        async (pieces, one, two, waits, client) => {
          const judge = waits ? later() : undefined
          const [first, second] = [gate(one, judge), gate(two, judge)]
          const events: GenerateEvent[] = [
            { type: 'start', model: 'm' },
            { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
            { type: 'part', index: 0, kind: 'text' },
            ...pieces.map((text): GenerateEvent => ({ type: 'delta', index: 0, text })),
            { type: 'item-end', index: 0 },
            { type: 'finish', stop: 'end', usage },
          ]
          const hears = rig.says(events)
          const acts = rig.act((answer) => answer.gate(() => first).gate(() => second))
          try {
            const { text } = await rig.get(client, 'neutral', true)
            const all = pieces.join('')
            // A lone half of a character cannot be written in UTF-8.
            expect(text.toWellFormed()).to.equal(all.toWellFormed())
            for (const [{ held }, { overlap }] of [
              [first, one],
              [second, two],
            ] as const) {
              expect(textsOf(held).join('')).to.equal(all)
              expect(held.filter(({ final }) => final)).to.have.length(1)
              expect(held.flatMap((window) => window.events)).to.deep.equal(events)
              for (const { texts, from } of held)
                for (const { before } of texts)
                  expect(before).to.equal(overlap === 0 ? '' : all.slice(0, from).slice(-overlap))
            }
          } finally {
            hears()
            acts()
          }
        },
      ),
      { numRuns: 300 },
    )
  }).timeout(120_000)

  it('judges a long text in a time that grows as the text does', async () => {
    const took = async (count: number) => {
      const one = gate({ characters: 64, overlap: 32 })
      const hears = rig.says([
        { type: 'start', model: 'm' },
        { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
        { type: 'part', index: 0, kind: 'text' },
        ...Array.from({ length: count }, (): GenerateEvent => ({ type: 'delta', index: 0, text: 'word ' })),
        { type: 'finish', stop: 'end', usage },
      ])
      const acts = rig.act((answer) => answer.gate(() => one))
      const began = process.threadCpuUsage()
      const { text } = await rig.get('messages', 'neutral', true)
      const { user } = process.threadCpuUsage(began)
      hears()
      acts()
      expect(text).to.have.length(count * 5)
      return user
    }
    await took(2_000)
    const short = Math.min(await took(5_000), await took(5_000))
    const long = Math.min(await took(40_000), await took(40_000))
    // Eight times the text; a step per earlier event would take sixty-four times as long.
    expect(long / short).to.be.below(24)
  }).timeout(120_000)
})
