import { expect } from 'chai'
import type { AnyGuard, Found, Host, Judge, Judged, JudgeScope } from '../../../engine/index.ts'
import length from '../../../plugins/guards/length.ts'
import { compiled, longestMatch } from '../../../plugins/guards/pattern.ts'
import pii from '../../../plugins/guards/pii.ts'
import regex from '../../../plugins/guards/regex.ts'
import schema from '../../../plugins/guards/schema.ts'
import search from '../../../plugins/guards/search.ts'
import type { SearchInput } from '../../../plugins/guards/search.ts'
import secretsKind from '../../../plugins/guards/secrets.ts'
import words from '../../../plugins/guards/words.ts'

const scope = { places: true, timeout: 1_000 } as JudgeScope

function judgedOf(texts: readonly string[], calls: Judged['tool_calls'] = []): Judged {
  return {
    texts: texts.map((text, index) => ({ at: `messages[${index}].content`, role: 'assistant', text, from: 0 })),
    tool_calls: calls,
    tools: [],
    side: 'output',
    final: true,
    window: null,
    request: {
      id: 'x',
      protocol: 'chat',
      operation: 'generate',
      model: 'm',
      stream: false,
      tags: {},
      end_user: null,
      headers: {},
      body: {},
    },
  }
}

function find(kind: AnyGuard, config: object, judged: Judged, services: object = {}): Found {
  const judge = kind.build(config as never, {} as never, services) as Judge
  return judge(judged, scope) as Found
}

/** The texts that a kind finds in a text. */
function foundIn(kind: AnyGuard, config: object, text: string): readonly string[] {
  return (find(kind, config, judgedOf([text])).spans ?? []).map(({ start, end }) => text.slice(start, end))
}

const all = { entities: ['email', 'phone', 'iban', 'credit_card', 'ip', 'us_ssn'] }
const everySecret = { entities: ['api_key', 'private_key', 'jwt', 'aws', 'github', 'slack'] }

describe('plugins/guards: words', () => {
  const given = { words: ['straße', 'Ann Lee', 'ab', 'b c'], case: false, whole: true }
  it('find words and phrases, whatever their case, width and form', () => {
    expect(foundIn(words, given, 'Ann lee met ANN LEE')).to.deep.equal(['Ann lee', 'ANN LEE'])
    expect(foundIn(words, given, 'Die STRASSE, die Straße')).to.deep.equal(['Straße'])
    expect(foundIn(words, { ...given, words: ['café'] }, 'cafe\u0301 und CAFÉ')).to.deep.equal(['cafe\u0301', 'CAFÉ'])
    expect(foundIn(words, { ...given, words: ['bank'] }, 'Ｂａｎｋ')).to.deep.equal(['Ｂａｎｋ'])
    expect(foundIn(words, { ...given, case: true }, 'AB ab')).to.deep.equal(['ab'])
  })
  it('find words in the forms of other scripts', () => {
    const of = (word: string, text: string) => foundIn(words, { ...given, words: [word] }, text)
    const korean = '한국'
    expect(of(korean, `a ${korean.normalize('NFD')} b`)).to.deep.equal([korean.normalize('NFD')])
    expect(of(korean.normalize('NFD'), `a ${korean} b`)).to.deep.equal([korean])
    expect(of('ガス', 'a ｶﾞｽ b')).to.deep.equal(['ｶﾞｽ'])
    expect(of('λόγος', 'a ΛΌΓΟΣ b λόγος')).to.deep.equal(['ΛΌΓΟΣ', 'λόγος'])
    expect(of('ΛΌΓΟΣ', 'a λόγος b')).to.deep.equal(['λόγος'])
  })
  it('find the same where nothing in the text moves as where something does', () => {
    const config = { ...given, words: ['straße', 'ΛΌΓΟΣ', 'ガス', '한국', 'café', '😀 é', 'дом', 'i'] }
    for (const text of [
      'Die STRASSE, eine Straße',
      'ein λόγος',
      'a ガス b',
      'im 한국 café',
      'x 😀 É y',
      'Дом ДОМ',
      'I İ ı i',
    ])
      for (const cased of [true, false]) {
        const own = { ...config, case: cased }
        // A letter that composes with a mark moves what stands behind it.
        expect(foundIn(words, own, `${text} x\u0301`), text).to.deep.equal(foundIn(words, own, text))
      }
    expect(foundIn(words, config, 'x 😀 É y Дом')).to.deep.equal(['😀 É', 'Дом'])
  })
  it('find whole words alone, if they are to', () => {
    expect(foundIn(words, given, 'abc ab1 _ab- äab ab')).to.deep.equal(['ab', 'ab'])
    expect(foundIn(words, { ...given, whole: false }, 'cab')).to.deep.equal(['ab'])
    expect(foundIn(words, { ...given, words: ['b c', 'c'] }, 'ab c')).to.deep.equal(['c'])
  })
  it('know their longest match', () => {
    expect(words.longest?.({ words: ['abc'], case: false, whole: true })).to.equal(11)
  })
  it('are searched in a thread where the text is long, or where its form makes it as long', () => {
    let searched = 0
    const host = { work: () => void searched++ } as unknown as Host
    const judge = words.build({ words: ['banana'], case: false, whole: true }, host) as Judge
    for (const [text, times] of [
      ['plain and ', 20_000],
      ['ｆｕｌｌ ', 4_000],
    ] as const) {
      searched = 0
      void judge(judgedOf([text.repeat(times)]), scope)
      expect(searched, text).to.equal(0)
      void judge(judgedOf([text.repeat(times + 1)]), scope)
      expect(searched, text).to.equal(1)
    }
  })
  it('take less than 5 ms for 5,000 words and 8 KiB', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `word${index * 7919}x`)
    const judge = words.build({ words: many, case: false, whole: true }, {} as never) as Judge
    const judged = judgedOf(['Lorem ipsum dolor sit amet '.repeat(304)])
    const took = Array.from({ length: 20 }, () => {
      const began = process.threadCpuUsage()
      void judge(judged, scope)
      return process.threadCpuUsage(began).user
    })
    // The time of this thread alone, once the code is compiled.
    expect(Math.min(...took)).to.be.below(5_000)
  })
})

describe('plugins/guards: regular expressions', () => {
  it('have places with the names of their patterns', () => {
    const config = { patterns: ['x+', { name: 'order', pattern: 'ORD-\\d{4}' }], flags: 'is', longest: 256 }
    expect(find(regex, config, judgedOf(['ord-1234 xx'])).spans).to.deep.equal([
      { text: 0, start: 0, end: 8, entity: 'order' },
      { text: 0, start: 9, end: 11 },
    ])
    expect(find(regex, config, judgedOf(['nothing'])).hit).to.equal(false)
  })
  it('never match more than their longest match', () => {
    const patterns = [
      'abc',
      'a{2,5}b',
      '(?:ab|cde){3}',
      '[a-z]{4}\\d',
      '\\bx\\b',
      'a|bc|def',
      '(a(b(c)?)?){2}',
      '\\Qa.b\\E',
      'x{0,3}y?',
      '\\p{L}{2}',
      '[[:alpha:]]{3}',
      '[]a]{2}',
      '[^]a]{2}',
      '(?i:ab)c',
      '(?P<n>ab){2}',
      '.{3}',
      '\\x61\\x{62}',
      '^ab$',
    ]
    const alphabet = 'abcdefxy.]1\u{1F600}'
    for (const pattern of patterns) {
      const machine = compiled(pattern, 'is')
      const longest = longestMatch(pattern)
      expect(longest, pattern).to.be.below(100)
      let seed = 7
      for (let turn = 0; turn < 300; turn++) {
        let text = ''
        for (let index = 0; index < 24; index++) {
          seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
          text += alphabet.split('')[seed % alphabet.length] ?? ''
        }
        const matcher = machine.matcher(text)
        while (matcher.find()) expect(matcher.end() - matcher.start(), `${pattern} in ${text}`).to.be.at.most(longest)
      }
    }
    for (const pattern of ['a+', 'a*b', '(ab){2,}', '(?:a+)?', 'a)'])
      expect(longestMatch(pattern), pattern).to.equal(Infinity)
  })
  it('compile without look-around and back references alone', () => {
    for (const pattern of ['(?=a)b', '(?<=a)b', '(a)\\1', '[a-'])
      expect(() => compiled(pattern, 'is'), pattern).to.throw()
  })
})

describe('plugins/guards: data of persons', () => {
  it('are found in their usual forms', () => {
    const found: Readonly<Record<string, string>> = {
      'Mail ann.lee+x@mail.example.co.uk.': 'ann.lee+x@mail.example.co.uk',
      'Call +49 30 1234567 now': '+49 30 1234567',
      'Call +14155550123!': '+14155550123',
      'Call (415) 555-0123': '(415) 555-0123',
      'Call 415-555-0123': '415-555-0123',
      'Ruf 030/1234567': '030/1234567',
      'IBAN DE89 3704 0044 0532 0130 00 bitte': 'DE89 3704 0044 0532 0130 00',
      'iban GB82WEST12345698765432': 'GB82WEST12345698765432',
      'Card 4111 1111 1111 1111.': '4111 1111 1111 1111',
      'Card 378282246310005': '378282246310005',
      'From 192.168.0.17:80': '192.168.0.17',
      'From 2001:db8::ff00:42:8329.': '2001:db8::ff00:42:8329',
      'SSN 123-45-6789': '123-45-6789',
    }
    for (const [text, value] of Object.entries(found)) expect(foundIn(pii, all, text), text).to.deep.equal([value])
  })
  it('are not found in what only looks like them', () => {
    const others = [
      'Card 4111 1111 1111 1112',
      'Number 12345678901234567890',
      'IBAN DE89 3704 0044 0532 0130 01',
      'Version 1.2.3.4.5 and 300.1.2.3',
      'Date 2026-11-27, 27.11.2026, 12:34:56',
      'SSN 000-12-3456 and 666-12-3456 and 123-00-6789',
      'user@localhost and @name and a@b',
      'Digits 5551234567 alone',
      'Path a::b and std::vector',
      'Order 1234-567-89 and 123-45-67890',
      'The year 1999 to 2024',
    ]
    for (const text of others) expect(foundIn(pii, all, text), text).to.deep.equal([])
  })
})

describe('plugins/guards: secrets', () => {
  const key = 'kJ8f2LmQ9xZr4TvB7nWc1YpD'
  it('are found by their vendors, or beside a word', () => {
    const found: Readonly<Record<string, string>> = {
      [`use sk-ant-api03-${key} here`]: `sk-ant-api03-${key}`,
      [`token ghp_${key}${key.slice(0, 12)}.`]: `ghp_${key}${key.slice(0, 12)}`,
      'id AKIAIOSFODNN7EXAMPLE': 'AKIAIOSFODNN7EXAMPLE',
      [`api_key = "${key}"`]: key,
      [`"password": "${key}",`]: key,
      [`the key is ${key}`]: key,
      'jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9':
        'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9',
    }
    for (const [text, value] of Object.entries(found))
      expect(foundIn(secretsKind, everySecret, text), text).to.deep.equal([value])
  })
  it('are found by the mark of a vendor alone, and called by it beside a word, too', () => {
    const values = [
      `ghp_${'a'.repeat(36)}`,
      `ghp_${key}${key.slice(0, 12)}`,
      `AKIA${'A'.repeat(16)}`,
      'xoxb-1111111111',
    ]
    const entities = ['github', 'github', 'aws', 'slack']
    for (const [index, value] of values.entries())
      for (const text of [value, `my token: ${value}`]) {
        const spans = [{ text: 0, start: text.indexOf(value), end: text.length, entity: entities[index] }]
        expect(find(secretsKind, everySecret, judgedOf([text])).spans, text).to.deep.equal(spans)
      }
    const [, beside] = values
    const { spans } = find(secretsKind, { entities: ['api_key'] }, judgedOf([`my token: ${beside}`]))
    expect(spans?.map(({ entity }) => entity)).to.deep.equal(['api_key'])
  })
  it('are not found in ordinary text', () => {
    const others = [
      'the key to understanding internationalization',
      'keyboard shortcuts: ctrl-alt-delete',
      `hash ${key}`,
      'sk-learn and sk-aaaaaaaaaaaaaaaaaaaaaaaa',
      'https://example.com/secret/of/happiness',
      'a token of appreciation for everybody here',
    ]
    for (const text of others) expect(foundIn(secretsKind, everySecret, text), text).to.deep.equal([])
  })
  it('have their places where the text has letters that are longer in lower case', () => {
    expect(foundIn(secretsKind, everySecret, `İİİ api_key=${key}`)).to.deep.equal([key])
    expect(foundIn(secretsKind, everySecret, `SCHLÜSSEL: ${key}`)).to.deep.equal([key])
  })
  it('end where each of several does', () => {
    const one = `-----BEGIN RSA PRIVATE KEY-----\n${key}\n-----END RSA PRIVATE KEY-----`
    expect(foundIn(secretsKind, everySecret, `a ${one} b ${one} c`)).to.deep.equal([one, one])
    expect(foundIn(secretsKind, everySecret, `key ${key}... token ${key}.`)).to.deep.equal([key, key])
  })
  // Where many keys may be, a thread judges.
  const host = { work: (_: URL, input: SearchInput) => search(input) } as unknown as Host
  const judge = secretsKind.build(everySecret, host) as Judge
  it('are searched for in a thread where there may be many, and at once elsewhere', async () => {
    const given: SearchInput[] = []
    const work = (_: URL, input: SearchInput) => Promise.resolve(search(input)).finally(() => given.push(input))
    for (const [kind, entities, many, few] of [
      [secretsKind, everySecret, `key ${key} `.repeat(30_000), `key ${key} `.repeat(300)],
      [pii, all, '(0'.repeat(30_000), `${'a word and '.repeat(50_000)}12`],
      [pii, all, 'a word and '.repeat(120_000), 'a word and '.repeat(80_000)],
    ] as const) {
      const judge = kind.build(entities, { work } as unknown as Host, {}) as Judge
      const late = judge(judgedOf([many]), scope)
      expect(late).to.be.instanceOf(Promise)
      expect((await late).spans ?? []).to.have.length(kind === pii ? 0 : 30_000)
      expect(given.splice(0)).to.have.length(1)
      expect(judge(judgedOf([few]), scope)).not.to.be.instanceOf(Promise)
      expect(given).to.deep.equal([])
    }
  })
  for (const part of [
    'sk-',
    'key1',
    'aws secret',
    'secret',
    'xoxb-',
    'hf_',
    '.eyJ',
    'key.',
    `sk-${key}`,
    '-----BEGIN PRIVATE KEY-----',
  ])
    it(`take a time that grows as the text does, of ${part}`, () => {
      /** Of as much text in all: the clock of a thread goes in steps of milliseconds. */
      const took = (count: number) => {
        const judged = judgedOf([`aws ${part.repeat(count)}${'.'.repeat(count)}`])
        const began = process.threadCpuUsage()
        for (let done = 0; done < 64_000; done += count) void judge(judged, scope)
        const { user, system } = process.threadCpuUsage(began)
        return Math.max(4_000, user + system)
      }
      const least = (count: number) => Math.min(took(count), took(count), took(count))
      took(4_000)
      // Texts eight times as long; a run of characters from each place of a word would take eight times as long.
      expect(least(32_000) / least(4_000)).to.be.below(3)
    }).timeout(60_000)
})

describe('plugins/guards: schemas and lengths', () => {
  it('find answers and arguments that do not fit', () => {
    const form = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }
    expect(find(schema, { schema: form }, judgedOf(['{"a":', '1}'])).hit).to.equal(false)
    expect(find(schema, { schema: form }, judgedOf(['{"a":"1"}'])).hit).to.equal(true)
    expect(find(schema, { schema: form }, judgedOf(['no JSON'])).hit).to.equal(true)
    const call = (input: string) => judgedOf([], [{ id: 'c', name: 'f', arguments: input }])
    expect(find(schema, { schema: form, tool: 'f' }, call('{"a":1}')).hit).to.equal(false)
    expect(find(schema, { schema: form, tool: 'f' }, call('{}')).hit).to.equal(true)
    expect(find(schema, { schema: form, tool: 'g' }, call('{}')).hit).to.equal(false)
  })
  it('judge at once by a pattern that JavaScript takes minutes for, and tell patterns apart', () => {
    const evil = { schema: { type: 'string', pattern: '^(a+)+$' } }
    const started = performance.now()
    expect(find(schema, evil, judgedOf([`"${'a'.repeat(64)}!"`])).hit).to.equal(true)
    expect(performance.now() - started).to.be.below(5_000)
    expect(find(schema, evil, judgedOf(['"aaa"'])).hit).to.equal(false)
    const two = { schema: { properties: { a: { pattern: '^x$' }, b: { pattern: '^y$' } } } }
    expect(find(schema, two, judgedOf(['{"a":"x","b":"y"}'])).hit).to.equal(false)
    expect(find(schema, two, judgedOf(['{"a":"x","b":"x"}'])).hit).to.equal(true)
  })
  it('find what is too long', () => {
    const services = { tokens: { ofBytes: (bytes: number) => Math.ceil(bytes / 4) } }
    const of = (config: object, text: string) => find(length, config, judgedOf([text]), services)
    expect(of({ max_characters: 3 }, 'abc').hit).to.equal(false)
    expect(of({ max_characters: 3 }, 'abcd')).to.deep.equal({ hit: true, category: 'characters' })
    expect(of({ max_tokens: 2 }, 'a'.repeat(9))).to.deep.equal({ hit: true, category: 'tokens' })
    expect(of({ max_tokens: 3 }, 'a'.repeat(9)).hit).to.equal(false)
    for (const list of ['messages', 'contents', 'input']) {
      const answer = judgedOf([])
      const request = {
        ...answer,
        side: 'input',
        request: { ...answer.request, body: { [list]: [{}, {}, {}] } },
      } as const
      expect(find(length, { max_messages: 2 }, request)).to.deep.equal({ hit: true, category: 'messages' })
      expect(find(length, { max_messages: 3 }, request).hit, list).to.equal(false)
      expect(find(length, { max_messages: 2 }, { ...request, side: 'output' }).hit, list).to.equal(false)
    }
  })
})
