import { expect } from 'chai'
import type { AnyGuard, GenerateEvent, Judged } from '../../../engine/index.ts'
import words from '../../../plugins/guards/words.ts'
import { ruleWith, through } from './gate.ts'

const ruleOf = (action: 'mask' | 'deny' | 'retry', more = {}) =>
  ruleWith(words, { words: ['confidential'], ...more }, action)

const start: GenerateEvent = { type: 'start' }
const finish: GenerateEvent = { type: 'finish', stop: 'end' }
const item = (index: number, type: 'message' | 'reasoning' | 'call'): GenerateEvent => ({
  type: 'item',
  index,
  item:
    type === 'call'
      ? { type, kind: 'function', callId: 'c', name: 'f', input: '' }
      : type === 'message'
        ? { type, role: 'assistant', content: [] }
        : { type, parts: [] },
})
const part = (index: number, kind: 'text' | 'reasoning' = 'text'): GenerateEvent => ({ type: 'part', index, kind })
const delta = (index: number, text: string): GenerateEvent => ({ type: 'delta', index, text })
const end = (index: number): GenerateEvent => ({ type: 'item-end', index })
const seal = (index: number): GenerateEvent => ({
  type: 'seal',
  index,
  seal: { kind: 'signature', data: 's' } as never,
})

const textOf = (events: readonly GenerateEvent[]) =>
  events.map((event) => (event.type === 'delta' ? event.text : '')).join('')

/** What a client must be able to rely on, however an answer ends. */
function expectWhole(events: readonly GenerateEvent[]): void {
  const open = new Set<number>()
  for (const event of events)
    if (event.type === 'item') open.add(event.index)
    else if (event.type === 'item-end') expect(open.delete(event.index)).to.equal(true)
    else if ('index' in event) expect([...open]).to.include(event.index)
  expect([...open]).to.deep.equal([])
  expect(events.filter(({ type }) => type === 'finish')).to.have.length(1)
}

describe('plugins/guards: the end of a denied stream', () => {
  it('gives all of the parts before the match', () => {
    const given = through(ruleOf('deny'), [
      [start, item(0, 'message'), part(0)],
      [delta(0, 'The number that you asked for is 4711. ')],
      [part(0), delta(0, 'It is '), delta(0, 'confidential.')],
      [end(0)],
      [finish],
    ])
    expectWhole(given)
    expect(textOf(given)).to.equal('The number that you asked for is 4711. It is ')
    expect(given.at(-1)).to.include({ stop: 'filter' })
  })

  it('seals no text that it has cut', () => {
    const given = through(ruleOf('deny'), [
      [start, item(0, 'reasoning'), part(0, 'reasoning')],
      [delta(0, 'This one is confidential')],
      [seal(0), end(0)],
      [finish],
    ])
    expectWhole(given)
    expect(textOf(given)).to.equal('This one is ')
    expect(given.map(({ type }) => type)).not.to.include('seal')
  })

  it('shows no call that has no end', () => {
    const events = [item(0, 'message'), part(0), delta(0, 'It is confidential'), item(1, 'call'), delta(1, '{"a":1}')]
    for (const reads of [[[start, ...events, finish]], [[start], ...events.map((one) => [one]), [finish]]]) {
      const given = through(ruleOf('deny'), reads)
      expectWhole(given)
      expect(textOf(given)).to.equal('It is ')
    }
  })
})

describe('plugins/guards: a masked part', () => {
  it('unseals its item, whichever part of it that is', () => {
    const given = through(ruleOf('mask'), [
      [start, item(0, 'reasoning')],
      [part(0, 'reasoning'), delta(0, 'This one is confidential. ')],
      [part(0, 'reasoning'), delta(0, 'And hello'), seal(0), end(0), finish],
    ])
    expectWhole(given)
    expect(textOf(given)).to.equal('This one is [GUARD]. And hello')
    expect(given.map(({ type }) => type)).not.to.include('seal')
  })
})

describe('plugins/guards: what stands beside a text that is masked', () => {
  const url = { type: 'url', url: 'https://example.com/', title: 'A page', start: 6, end: 18 } as const
  const own = { type: 'opaque', protocol: 'responses', value: { index: 6 } } as const
  const beside = [url, own].map((annotation): GenerateEvent => ({ type: 'annotation', index: 0, annotation }))
  const begun = [start, item(0, 'message'), part(0)]
  const told = (reads: readonly (readonly GenerateEvent[])[], more = {}) => {
    const given = through(ruleOf('mask', more), reads)
    expectWhole(given)
    return given.flatMap((event) => (event.type === 'annotation' ? [event.annotation] : []))
  }

  for (const [name, reads] of Object.entries({
    'in the same read': (text: string) => [[...begun, delta(0, text), ...beside, end(0), finish]],
    'while the text is held': (text: string) => [[...begun, delta(0, text)], beside, [end(0), finish]],
    'each for itself': (text: string) => [...begun, delta(0, text), ...beside, end(0), finish].map((one) => [one]),
  }))
    it(`has no places of the text as it was: ${name}`, () => {
      expect(told(reads('It is confidential.'))).to.deep.equal([{ ...url, start: 0, end: 0 }])
      expect(told(reads('It is not what it is.'))).to.deep.equal([url, own])
    })

  it('follows the text that it is about', () => {
    const given = through(ruleOf('mask'), [[...begun, delta(0, 'It is open.')], beside, [end(0), finish]])
    expect(given.map(({ type }) => type).slice(3)).to.deep.equal([
      'delta',
      'annotation',
      'annotation',
      'item-end',
      'finish',
    ])
  })
})

describe('plugins/guards: a kind that says only that something is there', () => {
  it('masks all of the window, and nothing of what the client has', () => {
    const vague = {
      ...words,
      longest: undefined,
      build: () => (judged: Judged) => ({ hit: judged.texts.some(({ text }) => text.includes('bad')) }),
    } as unknown as AnyGuard
    const rule = ruleWith(vague, { window: { characters: 10, time: '500ms', overlap: 4 } }, 'mask')
    const pieces = ['All is well. ', 'This is bad. ', 'And that is all.']
    const given = through(rule, [
      [start, item(0, 'message'), part(0)],
      ...pieces.map((text) => [delta(0, text)]),
      [end(0), finish],
    ])
    expectWhole(given)
    expect(textOf(given)).to.equal('All is well. [GUARD]And that is all.')
  })
})

describe('plugins/guards: a value over two parts', () => {
  const first = [start, item(0, 'message'), part(0), delta(0, 'It is confi')]
  const events = [...first, part(0), delta(0, 'dential now.'), end(0), finish]

  for (const isWhole of [true, false])
    it(`is found where all of the answer is held${isWhole ? ', which is whole' : ''}`, () => {
      for (const rule of [ruleOf('deny', { stream: 'full', message: 'No.' }), ruleOf('retry', { message: 'No.' })]) {
        const given = through(rule, [events], isWhole)
        expectWhole(given)
        expect(textOf(given)).to.equal('No.')
      }
      const masked = through(ruleOf('mask', { stream: 'full' }), [events], isWhole)
      expect(textOf(masked)).to.equal('It is [GUARD] now.')
    })
})

describe('plugins/guards: guards that judge an answer beside each other', () => {
  const ending = ruleOf('deny', { stream: 'full', message: 'No.' })
  const passing = ruleOf('deny', { stream: 'full', words: ['elsewhere'] })
  const begun = [start, item(0, 'message'), part(0)]

  for (const isWhole of [true, false])
    it(`all judge where one of them takes away what cannot be judged${isWhole ? '' : ', in a held stream'}`, () => {
      const groundingMetadata = { groundingSupports: [{ segment: { startIndex: 0, endIndex: 5, text: 'It is' } }] }
      const search: GenerateEvent = {
        type: 'item',
        index: 1,
        item: { type: 'opaque', protocol: 'gemini', role: 'assistant', value: { groundingMetadata } },
      }
      const found = [search, end(1), finish]
      const denied = through(
        [passing, ending],
        [[...begun, delta(0, 'It is confidential.'), end(0), ...found]],
        isWhole,
      )
      expectWhole(denied)
      expect(textOf(denied)).to.equal('No.')
      const passed = through([passing, ending], [[...begun, delta(0, 'It is open.'), end(0), ...found]], isWhole)
      expectWhole(passed)
      expect(textOf(passed)).to.equal('It is open.')
      expect(JSON.stringify(passed)).to.contain('groundingSupports').and.not.contain('"It is"')
    })

  for (const rules of [[passing], [passing, ending]])
    it(`show no call that broke off: ${rules.length} of them`, () => {
      const failure = { status: 502, code: null, type: 'server_error', message: 'It is over.', param: null }
      const begunCall = [start, item(0, 'message'), end(0), item(1, 'call'), delta(1, '{"a":')]
      const given = through(rules, [[...begunCall, { type: 'failure', failure }]])
      expect(given.map(({ type }) => type)).to.deep.equal(['start', 'item', 'item-end', 'failure'])
    })
})
