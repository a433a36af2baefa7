import { expect } from 'chai'
import fc from 'fast-check'
import type { Rule } from '../../../plugins/guards/rule.ts'
import pii from '../../../plugins/guards/pii.ts'
import regex from '../../../plugins/guards/regex.ts'
import secretsKind from '../../../plugins/guards/secrets.ts'
import words from '../../../plugins/guards/words.ts'
import type { AnyGuard, GenerateEvent, Judged } from '../../../engine/index.ts'
import { fold } from '../../../engine/stream/fold.ts'
import { leaks, secrets } from '../../guards/corpus.ts'
import type { Secret } from '../../guards/corpus.ts'
import { ruleWith, through } from './gate.ts'

function ruleOf({ kind, entity }: Pick<Secret, 'kind' | 'entity'>, action: 'mask' | 'deny'): Rule {
  return ruleWith(kind === 'pii' ? pii : secretsKind, { entities: [entity] }, action)
}

/** What comes out of a gate for pieces of a text. */
function given(
  rule: Rule,
  pieces: readonly string[],
  part: 'text' | 'reasoning' | 'call',
  isSplit = false,
  isWhole = false,
): string {
  const item: Extract<GenerateEvent, { type: 'item' }>['item'] =
    part === 'call'
      ? { type: 'call', kind: 'function', callId: 'c', name: 'f', input: '' }
      : part === 'text'
        ? { type: 'message', role: 'assistant', content: [] }
        : { type: 'reasoning', parts: [] }
  const events: GenerateEvent[] = [
    { type: 'start' },
    { type: 'item', index: 0, item },
    ...(part === 'call' ? [] : [{ type: 'part', index: 0, kind: part } as const]),
    ...pieces.flatMap((text, number): GenerateEvent[] => [
      ...(isSplit && number > 0 ? [{ type: 'part', index: 0, kind: 'text' } as const] : []),
      { type: 'delta', index: 0, text },
    ]),
    { type: 'item-end', index: 0 },
    { type: 'finish', stop: 'end' },
  ]
  const reads = events.map((event) => [event])
  const [only] = fold(through(rule, reads, isWhole)).items
  if (only === undefined) return ''
  if (only.type === 'call') return only.input
  if (only.type === 'reasoning') return only.parts.map(({ text }) => text).join('')
  return only.type === 'message' ? only.content.map((one) => (one.type === 'text' ? one.text : '')).join('') : ''
}

describe('plugins/guards: values that are cut over events', () => {
  const rules = new Map<string, Rule>()
  const ruleFor = (secret: Secret, action: 'mask' | 'deny') => {
    const key = `${secret.kind} ${secret.entity} ${action}`
    const rule = rules.get(key) ?? ruleOf(secret, action)
    rules.set(key, rule)
    return rule
  }

  it('are masked whole, and nothing else is', () => {
    for (const secret of secrets) {
      const { before, value, after, entity } = secret
      const whole = given(ruleFor(secret, 'mask'), [before + value + after], 'text')
      expect(whole, value).to.equal(`${before}[${entity.toUpperCase()}]${after}`)
    }
  })

  it('leak nothing at any split in two', function () {
    this.timeout(120_000)
    for (const secret of secrets) {
      const { before, value, after, entity } = secret
      const wanted = `${before}[${entity.toUpperCase()}]${after}`
      const text = before + value + after
      for (let at = before.length; at <= before.length + value.length; at++)
        expect(given(ruleFor(secret, 'mask'), [text.slice(0, at), text.slice(at)], 'text')).to.equal(wanted)
    }
  })

  it('leak nothing at splits in three, in text, reasoning and arguments', function () {
    this.timeout(240_000)
    for (const [number, secret] of secrets.entries()) {
      const { before, value, after } = secret
      const part = (['text', 'reasoning', 'call'] as const)[number % 3] as 'text' | 'reasoning' | 'call'
      const text = part === 'call' ? JSON.stringify({ value: before + value + after }) : before + value + after
      const start = text.indexOf(before) + before.length
      const end = text.length - after.length
      // Every pair of places would be 200 times as many.
      for (let one = start; one <= end; one++) {
        const other = one + ((number * 7 + one) % Math.max(1, end - one + 1))
        const pieces = [text.slice(0, one), text.slice(one, other), text.slice(other)]
        const out = given(ruleFor(secret, 'mask'), pieces, part)
        if (leaks(value, out)) expect.fail(`${value} at ${one} and ${other}: ${out}`)
        if (part === 'call') JSON.parse(out)
      }
    }
  })

  it('end an answer that denies them before their first character', () => {
    for (const secret of secrets) {
      const { before, value, after } = secret
      const text = before + value + after
      for (let at = before.length; at <= before.length + value.length; at += 5) {
        const out = given(ruleFor(secret, 'deny'), [text.slice(0, at), text.slice(at)], 'text')
        const isStart = before.startsWith(out) || out === 'The content was blocked.'
        expect(isStart, `${value} at ${at}: ${out}`).to.equal(true)
      }
    }
  })

  it('are denied whichever of several comes first, by each kind', () => {
    const one = ruleWith(regex, { patterns: ['secret-\\d{4}'], flags: 'is', longest: 256 }, 'deny')
    const text = 'The number is secret-1234 and nothing else.'
    for (let at = 0; at <= text.length; at++) {
      const out = given(one, [text.slice(0, at), text.slice(at)], 'text')
      expect(out, String(at)).to.satisfy((some: string) => text.startsWith(some) || some.startsWith('The content'))
      expect(out).not.to.contain('secret-1')
    }
    const both = ruleWith(pii, { entities: ['email', 'phone'] }, 'deny')
    const long = `Call +4930123456789 please. ${'x '.repeat(112)}ann@example.com`
    for (let at = 0; at <= long.length; at++)
      expect(given(both, [long.slice(0, at), long.slice(at)], 'text'), String(at)).not.to.contain('+4930')
  })

  it('pass letter by letter as they do whole', () => {
    for (const secret of secrets.slice(0, 64)) {
      const { before, value, after, entity } = secret
      const wanted = `${before}[${entity.toUpperCase()}]${after}`
      expect(given(ruleFor(secret, 'mask'), (before + value + after).split(''), 'text')).to.equal(wanted)
    }
  })

  it('are no values where letters and digits stand beside them', () => {
    const passes = (kind: AnyGuard, config: object, text: string) => {
      for (const action of ['mask', 'deny'] as const) {
        const rule = ruleWith(kind, config, action)
        expect(given(rule, text.split(''), 'text'), text).to.equal(text)
        for (let at = 0; at <= text.length; at++)
          expect(given(rule, [text.slice(0, at), text.slice(at)], 'text'), `${text} at ${at}`).to.equal(text)
      }
    }
    const long = 'and so on, '.repeat(12)
    passes(words, { words: ['ass'], case: false, whole: true }, `The class is dismissed ${long}`)
    passes(pii, { entities: ['credit_card'] }, `Order 94111111111111111 ${long}`)
    passes(pii, { entities: ['credit_card'] }, `Order a4111111111111111 ${long}`)
    passes(regex, { patterns: ['^ab', '\\bcat\\b'], flags: 'is', longest: 256 }, `crab abc concat ab cats ${long}`)
    passes(secretsKind, { entities: ['api_key'] }, `task-a1B2c3D4e5F6g7H8i9J0k1L2m3N4 ${long}${long}${long}${long}`)
  })

  it('are judged in any pieces as they are whole', function () {
    this.timeout(120_000)
    const kinds: readonly (readonly [AnyGuard, object, readonly string[]])[] = [
      [
        words,
        { words: ['ass', 'ab c', 'c'], case: false, whole: true },
        ['ass', 'ab c', 'cl', 'c', ' ', 'é', '\u0301'],
      ],
      [words, { words: ['aba', 'bab'], case: true, whole: false }, ['a', 'b', 'ab', 'c ']],
      [pii, { entities: ['credit_card'] }, ['4111111111111111', '4', '9', ' ', '-', 'a', '4111 1111 1111 1111']],
      [pii, { entities: ['email'] }, ['ann@example.com', '@', '.', 'a', ' ', '-', 'example']],
      [pii, { entities: ['us_ssn', 'ip'] }, ['123-45-6789', '10.0.0.1', '1', '.', '-', ' ', 'a']],
      [
        secretsKind,
        { entities: ['api_key', 'github'] },
        ['sk-', 'a1B2c3D4e5F6g7H8i9J0', 'task', ' ', '.', 'key=', 'ghp_', 'and then so on '.repeat(20)],
      ],
      [regex, { patterns: ['^ab', '\\bcat\\b', 'x{3}'], flags: 'is', longest: 64 }, ['ab', 'cat', ' ', 'c', ' xxx ']],
    ]
    for (const [kind, config, parts] of kinds)
      for (const action of ['mask', 'deny'] as const) {
        const rule = ruleWith(kind, config, action)
        const pieces = fc.array(fc.array(fc.constantFrom(...parts), { maxLength: 12 }), { maxLength: 24 })
        fc.assert(
          fc.property(pieces, fc.integer({ min: 1, max: 9 }), (drawn, size) => {
            const text = drawn.map((one) => one.join('')).join('')
            const whole = given(rule, [text], 'text')
            const letters = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
            for (const split of [drawn.map((one) => one.join('')), letters]) {
              const out = given(rule, split, 'text')
              if (action === 'mask') expect(out).to.equal(whole)
              // What stands before the match may have been given.
              else if (whole === text) expect(out).to.equal(text)
              else expect(out).not.to.equal(text)
            }
          }),
          { numRuns: 150, seed: 7 },
        )
      }
  })

  it('take as many characters for each event, however long the stream is', () => {
    const judged: number[] = []
    const longest = 64
    const counting: AnyGuard = {
      ...pii,
      name: 'counting',
      longest: () => longest,
      build: () => (given: Judged) => {
        judged.push(given.texts.reduce((sum, { text }) => sum + text.length, 0))
        return { hit: false }
      },
    }
    const took = (count: number) => {
      judged.length = 0
      const pieces = Array.from({ length: count }, (_, number) => String(number).padStart(4, '0'))
      expect(given(ruleWith(counting, {}, 'mask'), pieces, 'text')).to.equal(pieces.join(''))
      return judged.length
    }
    expect(took(2_000)).to.be.at.most(2_000 + 5)
    expect(Math.max(...judged)).to.be.at.most(2 * longest + 4)
  })

  it('take a time that grows as a long match does', function () {
    this.timeout(60_000)
    const rule = ruleWith(secretsKind, { entities: ['private_key'] }, 'mask')
    const took = (count: number) => {
      const lines = Array.from({ length: count }, (_, index) => String(index).padStart(4, '0'))
      const pieces = ['-----BEGIN PRIVATE KEY-----\n', ...lines, '\n-----END PRIVATE KEY-----', ' and after']
      const began = process.threadCpuUsage()
      for (let done = 0; done < 4_000; done += count)
        expect(given(rule, pieces, 'text')).to.equal('[PRIVATE_KEY] and after')
      const { user, system } = process.threadCpuUsage(began)
      return Math.max(4_000, user + system)
    }
    took(500)
    const [short, long] = [500, 4_000].map((count) => Math.min(took(count), took(count), took(count)))
    // Texts eight times as long; judging all of it again with each event would take eight times as long.
    expect((long as number) / (short as number)).to.be.below(3)
  })

  it('are found over the parts of a message, and in each alone', () => {
    for (const secret of secrets.slice(0, 128).filter((one) => one.value.length < 80)) {
      const { before, value, after, entity } = secret
      const text = before + value + after
      const wanted = `${before}[${entity.toUpperCase()}]${after}`
      for (let at = before.length + 1; at < before.length + value.length; at += 3) {
        const parts = [text.slice(0, at), text.slice(at)]
        // One part may be a value by itself.
        const whole = given(ruleFor(secret, 'mask'), parts, 'text', true, true)
        if (whole !== wanted) expect(leaks(value, whole), `${value} at ${at}: ${whole}`).to.equal(false)
        // A stream waits at the end of a part for what the next one begins with.
        expect(given(ruleFor(secret, 'mask'), parts, 'text', true), `${value} at ${at}`).to.equal(whole)
        const denied = given(ruleFor(secret, 'deny'), parts, 'text', true)
        expect(before.startsWith(denied) || denied.startsWith('The content'), `${value} at ${at}: ${denied}`).to.equal(
          true,
        )
      }
    }
    for (const secret of secrets.slice(0, 16)) {
      const letters = (secret.before + secret.value + secret.after).split('')
      expect(given(ruleFor(secret, 'mask'), letters, 'text', true)).not.to.contain(secret.value.slice(0, 8))
    }
    const rule = ruleWith(words, { words: ['forbidden'], case: false, whole: true }, 'mask')
    expect(given(rule, ['It is the', 'forbidden word'], 'text', true)).to.equal('It is the[GUARD] word')
    expect(given(rule, ['It is for', 'bid', 'den, is it'], 'text', true, true)).to.equal('It is [GUARD], is it')
    expect(given(rule, ['It is for', 'ever'], 'text', true)).to.equal('It is forever')
  })
})
