import { expect } from 'chai'
import type { AnyGuard, Found, Host } from '../../../engine/index.ts'
import words from '../../../plugins/guards/words.ts'
import { around, ruleWith } from './gate.ts'

const judged = {
  texts: [{ at: 'messages[0].content', role: 'user', text: 'Hello', from: 0 }],
  tool_calls: [],
  tools: [],
  side: 'input',
  final: true,
  window: null,
  request: {} as never,
} as const

/** What a judge may answer that is no verdict. */
const nonsense: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  'a word': 'pass',
  'no hit': {},
  'a hit that is no truth': { hit: 'no' },
  'a place beyond the text': { hit: true, spans: [{ text: 0, start: 0, end: 6 }] },
  'a place before it': { hit: true, spans: [{ text: 0, start: -1, end: 2 }] },
  'a place that ends before it begins': { hit: true, spans: [{ text: 0, start: 3, end: 2 }] },
  'a place in another text': { hit: true, spans: [{ text: 1, start: 0, end: 0 }] },
  'a text for another one': { hit: true, texts: [{ text: 1, with: 'x' }] },
  'a text that is none': { hit: true, texts: [{ text: 0 }] },
}

describe('plugins/guards: a judgement', () => {
  const lines: object[] = []
  const host = { log: { warn: (fields: object) => lines.push(fields) } } as unknown as Host
  const judge = (answer: () => unknown, signal?: AbortSignal) => {
    const kind: AnyGuard = { ...words, build: () => answer }
    return ruleWith(kind, { words: ['x'] }, 'deny').judge(judged, host, around().scope, signal)
  }

  for (const [what, answer] of Object.entries(nonsense))
    it(`has failed where a judge answers ${what}, at once or later`, async () => {
      for (const answers of [() => answer, () => Promise.resolve(answer)]) {
        lines.length = 0
        expect(await judge(answers)).to.include({ failed: 'error' })
        expect(lines).to.have.length(1)
      }
    })

  it('has failed where a judge throws, or rejects', async () => {
    const throws = () => {
      throw new Error('broken')
    }
    for (const answers of [throws, () => Promise.reject(new Error('broken'))])
      expect(await judge(answers)).to.include({ failed: 'error' })
  })

  it('is not waited for where nobody wants it any more', async () => {
    const never = new Promise<Found>(() => undefined)
    expect(await judge(() => never, AbortSignal.abort())).to.include({ failed: 'left' })
    const ending = new AbortController()
    const judging = judge(() => never, ending.signal)
    ending.abort()
    expect(await judging).to.include({ failed: 'left' })
  })
})
