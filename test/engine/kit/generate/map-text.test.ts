import { expect } from 'chai'
import * as fc from 'fast-check'
import { fold, mapJson, mapText, parseVerbatim, unfold } from '../../../../engine/kit.ts'
import type { GenerateEvent, Json, JsonObject } from '../../../../engine/index.ts'
import { replies } from '../../../golden/arbitrary-replies.ts'
import { parseJson } from '../../../../engine/json/parse.ts'

const hide = (text: string) => text.replaceAll('hunter2', '***')
const start = { type: 'start' } as const
const finish = { type: 'finish', stop: 'end' } as const

function mapped(events: Iterable<GenerateEvent>, change = hide, longest = 7): readonly GenerateEvent[] {
  const map = mapText(change, longest)()
  return [...events].flatMap((event) => [...map.event(event)])
}

/** A text cut into pieces at these places. */
const pieces = (text: string, cuts: readonly number[]) =>
  [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((one, other) => one - other), text.length]
    .slice(1)
    .map((end, index, ends) => text.slice(index === 0 ? 0 : ends[index - 1], end))

const letters = (text: string) => text.match(/[^]/gu) ?? []

const message = (deltas: readonly string[], kind: 'text' | 'refusal' = 'text'): readonly GenerateEvent[] => [
  start,
  { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
  { type: 'part', index: 0, kind },
  ...deltas.map((text) => ({ type: 'delta', index: 0, text }) as const),
  { type: 'item-end', index: 0 },
  finish,
]
const call = (deltas: readonly string[], kind: 'function' | 'custom'): readonly GenerateEvent[] => [
  start,
  { type: 'item', index: 0, item: { type: 'call', kind, callId: 'c', name: 'look', input: '' } },
  ...deltas.map((text) => ({ type: 'delta', index: 0, text }) as const),
  { type: 'item-end', index: 0 },
  finish,
]
const textOf = (events: readonly GenerateEvent[]) =>
  events.flatMap((event) => (event.type === 'delta' ? event.text : [])).join('')

/** Texts that hold the word often, and often nearly. */
const near = fc
  .array(fc.oneof(fc.constantFrom('hunter2', 'hunter', 'hun', '2', 'ter2', 'h', ' ', '😀', '"', '\\'), fc.string()), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''))
const cuts = fc.array(fc.nat(), { maxLength: 20 })

describe('mapText', () => {
  it('finds what is cut over deltas, wherever it is cut', () => {
    fc.assert(
      fc.property(near, cuts, fc.constantFrom('text', 'refusal'), (text, at, kind) => {
        const events = mapped(message(pieces(text, at), kind))
        expect(textOf(events)).to.equal(hide(text))
        for (const event of events)
          if (event.type === 'delta') expect(event.text.isWellFormed()).to.equal(text.isWellFormed())
      }),
      { numRuns: 500 },
    )
  })

  it('finds patterns, and the first of words that overlap', () => {
    const change = (text: string) => text.replaceAll(/\d{4,8}|abab|ba/g, '#')
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', '1', ' '), maxLength: 40 }), cuts, (text, at) => {
        expect(textOf(mapped(message(pieces(text, at)), change, 8))).to.equal(change(text))
      }),
      { numRuns: 500 },
    )
  })

  const looking: readonly (readonly [RegExp, number, string])[] = [
    [/\bcat\b/g, 5, 'concat!'],
    [/(?<!\d)\d{4}(?!\d)/g, 6, '12345678'],
    [/^secret/g, 7, 'no secret here'],
    [/(?<=key: )\w{3}(?=;)/g, 9, 'key: cat; monkey: abcd; abc;'],
    [/\d{4}/g, 4, '12345678901234'],
  ]
  for (const [pattern, longest, example] of looking)
    it(`finds what looks around, wherever it is cut: ${pattern.source}`, () => {
      const masks = ['***', '#'].map((mask) => (text: string) => text.replaceAll(pattern, mask))
      const parts = fc.constantFrom(
        'cat',
        'con',
        'secret',
        '1234',
        '5',
        'key: ',
        'abc',
        ';',
        ' ',
        '!',
        '\n',
        '😀',
        example,
      )
      const texts = fc.array(parts, { maxLength: 30 }).map((all) => all.join(''))
      for (const mask of masks)
        expect(textOf(mapped(message(letters(example)), mask, longest)), example).to.equal(mask(example))
      fc.assert(
        fc.property(texts, cuts, fc.constantFrom(...masks), (text, at, mask) => {
          for (const cut of [pieces(text, at), letters(text)])
            expect(textOf(mapped(message(cut), mask, longest))).to.equal(mask(text))
        }),
        { numRuns: 500 },
      )
    })

  it('looks at no more of a long text than it has to', () => {
    let looked = 0
    const mask = (text: string) => {
      looked += text.length
      return text.replaceAll(/\bcat\b/g, '***')
    }
    const text = 'concat the cat. '.repeat(2_000)
    expect(textOf(mapped(message(letters(text)), mask, 5))).to.equal(text.replaceAll(' cat', ' ***'))
    expect(looked / text.length).to.be.below(100)
  })

  it('holds back no more than what it may have to change', () => {
    const events = mapped(message(['Hello there, ', 'hun', 'dreds']))
    expect(events.flatMap((event) => (event.type === 'delta' ? event.text : []))).to.deep.equal([
      'Hello t',
      'her',
      'e, hu',
      'ndreds',
    ])
  })

  it('changes the strings of the input of a function, however they are written', () => {
    const spelled = fc.constantFrom(
      'so hunter2 is',
      String.raw`so h\u0075nter2 is`,
      String.raw`{\"a\":\"hunter\\u0032\"}`,
    )
    const inputs = fc.tuple(spelled, fc.json()).map(([word, json]) => `{ "a": 1.0, "b": "${word}", "c": ${json} }`)
    fc.assert(
      fc.property(inputs, cuts, (input, at) => {
        const given = textOf(mapped(call(pieces(input, at), 'function')))
        const before = parseJson(input) as { b: string; c: Json }
        const after = parseJson(given) as { b: string; c: Json }
        expect(after.c).to.deep.equal(before.c)
        expect(given).to.include('1.0')
        expect(after.b).to.include('***').and.not.include('hunter')
      }),
      { numRuns: 300 },
    )
  })

  it('changes the numbers of it', () => {
    const card = (text: string) => text.replaceAll(/\d{16}/g, '####')
    const input = '{"a": 4111111111111111, "b": [1.0, true, 4111111111111111]}'
    expect(textOf(mapped(call(letters(input), 'function'), card, 16))).to.equal(
      '{"a": "####", "b": [1.0, true, "####"]}',
    )
  })

  it('passes each string of it when it has ended, and leaves others as they are written', () => {
    const events = mapped(call(['{"one":"\\u0041', ' b","two"', ':"x"}'], 'function'))
    expect(events.flatMap((event) => (event.type === 'delta' ? event.text : []))).to.deep.equal([
      '{"one":',
      '"\\u0041 b","two"',
      ':"x"}',
    ])
  })

  it('takes for text what is no JSON after all, and the input of custom tools', () => {
    fc.assert(
      fc.property(near, cuts, (text, at) => {
        expect(textOf(mapped(call(pieces(text, at), 'custom')))).to.equal(hide(text))
        expect(textOf(mapped(call(pieces(text, at), 'function')))).to.not.include('hunter2')
      }),
      { numRuns: 500 },
    )
    expect(textOf(mapped(call(['search(hun', 'ter2)'], 'function')))).to.equal('search(***)')
    expect(textOf(mapped(call(['{"a":"so hun', 'ter2'], 'function')))).to.equal('{"a":"so ***')
  })

  it('leaves out what gives a changed text away, and keeps it with any other', () => {
    const url = { type: 'url', url: 'https://a.example/hunter2', title: 'hunter2', start: 3, end: 9 } as const
    const own = { protocol: 'messages', value: { cited_text: 'about hunter2' } }
    const saying = (text: string): readonly GenerateEvent[] => [
      { type: 'item', index: 0, item: { type: 'reasoning', parts: [] } },
      { type: 'part', index: 0, kind: 'summary' },
      { type: 'delta', index: 0, text },
      { type: 'seal', index: 0, seal: { kind: 'signature', data: 'signed' } },
      { type: 'item-end', index: 0 },
      { type: 'item', index: 1, item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'part', index: 1, kind: 'text' },
      { type: 'annotation', index: 1, annotation: { ...url, own } },
      { type: 'annotation', index: 1, annotation: { type: 'opaque', protocol: 'x', value: { at: 3 } } },
      { type: 'delta', index: 1, text, logprobs: [{ token: text, logprob: -1 }] },
      { type: 'item-end', index: 1 },
    ]
    const shown = { ...url, url: 'https://a.example/***', title: '***' }
    expect(mapped(saying('It is hunter2.'))).to.deep.equal([
      ...saying('It is ***.')
        .filter(({ type }) => type !== 'seal' && type !== 'annotation' && type !== 'delta')
        .slice(0, 2),
      { type: 'delta', index: 0, text: 'It is ' },
      { type: 'delta', index: 0, text: '***.' },
      { type: 'item-end', index: 0 },
      ...saying('').slice(5, 7),
      { type: 'delta', index: 1, text: 'It is ' },
      { type: 'delta', index: 1, text: '***.' },
      { type: 'annotation', index: 1, annotation: { ...shown, start: 0, end: 0 } },
      { type: 'item-end', index: 1 },
    ])
    const reply = fold(mapped(saying('It is fine.')))
    expect(reply.items).to.deep.equal([
      {
        type: 'reasoning',
        parts: [{ kind: 'summary', text: 'It is fine.' }],
        seal: { kind: 'signature', data: 'signed' },
      },
      {
        type: 'message',
        role: 'assistant',
        content: [
          {
            type: 'text',
            text: 'It is fine.',
            annotations: [
              { ...shown, own: { ...own, value: { cited_text: 'about ***' } } },
              { type: 'opaque', protocol: 'x', value: { at: 3 } },
            ],
          },
        ],
      },
    ])
  })

  it('reaches into items and fields of one protocol, and leaves out pieces of their texts', () => {
    const value = { type: 'code', code: 'print("hunter2")', input: '{"a":"hunter\\u0032"}' }
    const events = mapped([
      start,
      { type: 'item', index: 0, item: { type: 'opaque', protocol: 'x', value } },
      { type: 'progress', index: 0, protocol: 'x', value: { type: 'code.delta', delta: 'hun' }, piece: true },
      { type: 'progress', index: 0, protocol: 'x', value: { type: 'code.done', code: 'hunter2' } },
      { type: 'item-end', index: 0 },
      { ...finish, stop: 'stop', stopSequence: 'hunter2', rest: { protocol: 'x', fields: { hunter2: ['hunter2'] } } },
    ])
    expect(events.slice(1)).to.deep.equal([
      {
        type: 'item',
        index: 0,
        item: { type: 'opaque', protocol: 'x', value: { type: 'code', code: 'print("***")', input: '{"a":"***"}' } },
      },
      { type: 'progress', index: 0, protocol: 'x', value: { type: 'code.done', code: '***' } },
      { type: 'item-end', index: 0 },
      { ...finish, stop: 'stop', stopSequence: '***', rest: { protocol: 'x', fields: { '***': ['***'] } } },
    ])
  })

  it('gives what it held back before a failure, whose words it changes, too', () => {
    const failure = { status: 500, code: null, type: 'x', message: 'hunter2 is down', param: null }
    const events = mapped([...message(['Hi hun']).slice(0, -2), { type: 'failure', failure }])
    expect(textOf(events)).to.equal('Hi hun')
    expect(events.at(-1)).to.deep.equal({ type: 'failure', failure: { ...failure, message: '*** is down' } })
  })

  it('changes nothing of any answer that has nothing to change, but for its log probabilities', () => {
    fc.assert(
      fc.property(replies, (reply) => {
        expect(fold(mapped(unfold(reply), (text) => text))).to.deep.equal(fold(unfold(reply)))
      }),
    )
  })
})

describe('mapJson', () => {
  it('prints everything else as it stood', () => {
    const text = '{"b":1.0,"2":{"10":"hunter2","9":12345678901234567890},"1":["hunter2",null,{"hunter2":true}]}'
    const given = JSON.stringify(mapJson(parseVerbatim(text, 'all') as JsonObject, hide))
    expect(given).to.equal(text.replaceAll('hunter2', '***'))
  })

  it('looks at no data', () => {
    const data = 'hunter2+'.repeat(200)
    const body = { image: `data:image/png;base64,${data}=`, audio: data, text: `${data} is no data` }
    const { text, ...others } = mapJson(body, hide)
    expect(others).to.deep.equal({ image: body.image, audio: data })
    expect(text).to.not.include('hunter2')
  })

  const card = (text: string) => text.replaceAll(/\d{16}/g, '####')
  const masked = (content: string, change: (text: string) => string) =>
    mapJson({ content }, change)['content'] as string

  it('takes a text with a key twice for text', () => {
    const text = '{"password":"hunter2","password":""}'
    expect(masked(text, hide)).to.equal(hide(text))
    expect(masked(`[1, {"a": ${text}}]`, hide)).to.equal(hide(`[1, {"a": ${text}}]`))
  })

  it('finds in a text that is JSON what it finds in any text', () => {
    expect(masked('[4111111111111111]', card)).to.equal('["####"]')
    expect(masked('{"a":[1.0,{"card":-4111111111111111.50}]}', card)).to.equal('{"a":[1.0,{"card":"-####.50"}]}')
    const member = (text: string) => text.replaceAll(/"password": ?"[^"*]*"/g, '"password":"***"')
    expect(masked('{"password": "x"}', member)).to.equal('{"password":"***"}')
    const both = (text: string) => member(hide(text))
    expect(masked(String.raw`{"password":"x","b":"h\u0075nter2"}`, both)).to.equal('{"password":"***","b":"***"}')
    const parts = fc.constantFrom('"hunter2"', '4111111111111111', '"a"', '"a":', '{', '}', '[', ']', ',', ':', ' ')
    const wild = fc.oneof(
      fc.json(),
      fc.array(parts, { maxLength: 12 }).map((all) => all.join('')),
      fc.jsonValue().map((value) => JSON.stringify({ value, hunter2: [4111111111111111, 'hunter2'] })),
    )
    fc.assert(
      fc.property(wild, (text) => {
        const change = (one: string) => card(hide(one))
        const given = masked(text, change)
        expect(change(given)).to.equal(given)
      }),
      { numRuns: 500 },
    )
  })

  it('leaves numbers alone that stand in no text', () => {
    expect(mapJson({ seed: 4111111111111111 }, card)).to.deep.equal({ seed: 4111111111111111 })
  })

  it('keeps all members whose names become the same', () => {
    const name = (text: string) => text.replaceAll(/hunter\d/g, '***')
    const members = { hunter1: 1, hunter2: 2, '***_2': 3, '***': 4, hunter3: 5 }
    const kept = { '***_3': 1, '***_4': 2, '***_2': 3, '***': 4, '***_5': 5 }
    expect(JSON.stringify(mapJson(members, name))).to.equal(JSON.stringify(kept))
    expect(masked(JSON.stringify(members), name)).to.equal(JSON.stringify(kept))
    expect(mapJson({ hunter1: 1, hunter2: 2 }, name)).to.deep.equal({ '***': 1, '***_2': 2 })
  })

  it('takes a text that is nested deep for text', () => {
    const nested = (levels: number, inside: string) => '['.repeat(levels) + inside + ']'.repeat(levels)
    expect(masked(nested(6_000, '"hunter2"'), hide)).to.equal(nested(6_000, '"***"'))
    expect(masked(nested(101, '"hunter2"'), hide)).to.equal(nested(101, '"***"'))
    expect(masked(nested(100, String.raw`"h\u0075nter2"`), hide)).to.equal(nested(100, '"***"'))
    const said = mapped(call([JSON.stringify({ a: nested(6_000, '"hunter2"') })], 'function'))
    expect(textOf(said)).to.equal(JSON.stringify({ a: nested(6_000, '"***"') }))
  })

  it('is the same object where nothing changes', () => {
    const body = { a: [{ b: 'c' }], d: '{"e": 1.0}' }
    expect(mapJson(body, hide)).to.equal(body)
  })
})
