import { expect } from 'chai'
import fc from 'fast-check'
import { fold } from '../../../engine/kit.ts'
import type { GenerateEvent, GenerateReply, Item } from '../../../engine/index.ts'
import { StopCut, cutReply, cuttable } from '../../../plugins/translation/stop-cut.ts'

const start: GenerateEvent[] = [
  { type: 'start', id: 'a' },
  { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
  { type: 'part', index: 0, kind: 'text' },
]
const end: GenerateEvent[] = [
  { type: 'item-end', index: 0 },
  { type: 'finish', stop: 'end' },
]

/** The text and the sequence that are left of texts which arrive one by one. */
function said(texts: readonly string[], sequences: readonly string[]) {
  const cut = new StopCut(sequences)
  const deltas = texts.map((text): GenerateEvent => ({ type: 'delta', index: 0, text }))
  const events = [...start, ...deltas, ...end].flatMap((event) => cut.write(event))
  const [item] = fold(events).items
  const [part] = item?.type === 'message' ? item.content : []
  return { text: part?.type === 'text' ? part.text : '', sequence: cut.sequence, events }
}

/** Where the first of the sequences ends, and there the one that begins first. */
function expected(text: string, sequences: readonly string[]) {
  for (let at = 1; at <= text.length; at++) {
    const found = sequences.filter((one) => text.slice(0, at).endsWith(one)).sort((a, b) => b.length - a.length)[0]
    if (found !== undefined) return { text: text.slice(0, at - found.length), sequence: found }
  }
  return { text, sequence: undefined }
}

describe('an answer that is cut at a stop sequence', () => {
  it('is not cut by a sequence whose halves stand in two texts', () => {
    const item = (index: number): GenerateEvent[] => [
      { type: 'item', index, item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'part', index, kind: 'text' },
    ]
    const cut = new StopCut(['END'])
    const events: GenerateEvent[] = [
      { type: 'start' },
      ...item(0),
      { type: 'delta', index: 0, text: 'EN' },
      { type: 'item-end', index: 0 },
      ...item(1),
      { type: 'delta', index: 1, text: 'Done' },
    ]
    expect(events.flatMap((event) => cut.write(event))).to.deep.equal(events)
    expect(cut.sequence).to.equal(undefined)
    // Only what is still open is closed when it is cut.
    const last = cut.write({ type: 'delta', index: 1, text: '. END' })
    expect(last.filter(({ type }) => type === 'item-end')).to.deep.equal([{ type: 'item-end', index: 1 }])
    expect(cut.sequence).to.equal('END')
  })

  it('ends before it, however its text arrives', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀'), maxLength: 12 })
    const sequences = fc.array(
      letters.filter((one) => one !== ''),
      { minLength: 1, maxLength: 3 },
    )
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 6 }), sequences, (texts, stops) => {
        const { text, sequence } = said(texts, stops)
        expect({ text, sequence }).to.deep.equal(expected(texts.join(''), stops))
      }),
      { numRuns: 2_000 },
    )
  })

  it('closes what is open, and says no more', () => {
    const { events } = said(['one ST', 'OP two', ' three'], ['STOP'])
    expect(events.slice(3)).to.deep.equal([
      { type: 'delta', index: 0, text: 'one ' },
      { type: 'item-end', index: 0 },
    ])
  })

  it('holds back only what may begin a sequence', () => {
    const cut = new StopCut(['###'])
    for (const event of start) cut.write(event)
    const given = ['a', 'b#', 'c', '##', 'd'].map((text) => cut.write({ type: 'delta', index: 0, text }))
    expect(given.map((events) => events.map((event) => 'text' in event && event.text).join())).to.deep.equal([
      'a',
      'b',
      '#c',
      '',
      '##d',
    ])
  })

  it('does not look at reasoning and calls', () => {
    const items: Item[] = [
      { type: 'reasoning', parts: [{ kind: 'text', text: 'I should STOP' }] },
      { type: 'call', kind: 'function', callId: 'c', name: 'f', input: '{"a":"STOP"}' },
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Well. STOP it.' }] },
    ]
    const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 9, reasoning: 0 }
    const reply: GenerateReply = { items, stop: 'end', usage }
    const cut = cutReply(reply, ['STOP'])
    expect(cut.items.slice(0, 2)).to.deep.equal(items.slice(0, 2))
    expect(cut.items[2]).to.have.deep.property('content', [{ type: 'text', text: 'Well. ' }])
    expect(cut).to.deep.include({ stop: 'stop', stopSequence: 'STOP', usage })
    expect(cutReply(reply, ['nothing'])).to.equal(reply)
  })

  it('takes a number of steps that grows with the text alone', () => {
    const sequence = `${'a'.repeat(1_023)}b`
    const cut = new StopCut(cuttable(Array.from({ length: 100 }, () => sequence)).cuts)
    for (const event of start) cut.write(event)
    let given = 0
    for (let at = 0; at < 2_000; at++)
      for (const event of cut.write({ type: 'delta', index: 0, text: 'aaaaaaaaaa' }))
        given += 'text' in event ? event.text.length : 0
    expect(given).to.equal(20_000 - 1_023)
    expect(cuttable([sequence, `${sequence}c`, '']).losses).to.have.length(1)
  })
})
