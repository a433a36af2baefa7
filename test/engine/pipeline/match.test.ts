import { expect } from 'chai'
import { matcher, proves, readCondition } from '../../../engine/pipeline/match.ts'
import type { Condition } from '../../../engine/pipeline/nodes.ts'
import type { Place } from '../../../engine/pipeline/nodes.ts'

const place = {} as Place
const slots = ['request', 'acme', 'acme.cache']

function matches(when: Record<string, unknown>, bag: object): boolean {
  return matcher(Object.entries(when).map(([key, value]) => readCondition(key, value, slots, place) as Condition))(bag)
}

describe('when', () => {
  const bag = { request: { stream: true, turn: 1, model: 'm', body: { user: null } }, 'acme.cache': { hit: 'yes' } }

  it('matches values, lists of values and slots that are there', () => {
    expect(matches({ 'request.stream': true, 'request.turn': [1, 2] }, bag)).to.equal(true)
    expect(matches({ 'request.turn': [2, 3] }, bag)).to.equal(false)
    expect(matches({ 'request.turn': '1' }, bag)).to.equal(false)
    expect(matches({ request: true, acme: false }, bag)).to.equal(true)
    expect(matches({ 'request.body.user': null }, bag)).to.equal(true)
    expect(matches({ 'request.stream': true, 'request.model': 'n' }, bag)).to.equal(false)
  })

  it('equals nothing behind what is absent', () => {
    expect(matches({ 'request.body.user.name': null }, bag)).to.equal(false)
    expect(matches({ 'request.model.length': 1 }, bag)).to.equal(false)
    expect(matches({ 'acme.other': false }, bag)).to.equal(false)
  })

  it('takes the longest slot that the path begins with', () => {
    expect(matches({ 'acme.cache.hit': 'yes', 'acme.cache': true }, bag)).to.equal(true)
    expect(readCondition('unknown.thing', 1, slots, place)).to.deep.equal({
      place,
      slot: 'unknown',
      path: ['thing'],
      test: { kind: 'is', any: [1] },
    })
  })

  it('matches when one member of a list does', () => {
    const bag = {
      request: {
        body: { modalities: ['text', 'audio'], tools: [{ type: 'function' }, { type: 'web_search' }], none: [] },
      },
      principal: { models: new Set(['small', 'large']) },
    }
    const slots = ['request', 'principal']
    const holds = (key: string, value: unknown) =>
      matcher([readCondition(key, value, slots, place) as Condition])(bag as never)
    expect(holds('request.body.modalities', 'audio')).to.equal(true)
    expect(holds('request.body.modalities', ['video', 'audio'])).to.equal(true)
    expect(holds('request.body.modalities', { not: 'audio' })).to.equal(false)
    expect(holds('request.body.modalities', { not: 'video' })).to.equal(true)
    expect(holds('request.body.modalities.0', 'audio')).to.equal(false)
    expect(holds('request.body.tools.type', 'web_search')).to.equal(true)
    expect(holds('request.body.tools.type', { prefix: 'web_' })).to.equal(true)
    expect(holds('request.body.tools.1.type', 'web_search')).to.equal(true)
    expect(holds('request.body.none', null)).to.equal(false)
    expect(holds('principal.models', 'large')).to.equal(true)
  })

  it('matches what begins or looks like a text, and what does not', () => {
    const model = (value: unknown, name: string) => matches({ 'request.model': value }, { request: { model: name } })
    expect(model({ prefix: 'gpt-' }, 'gpt-5')).to.equal(true)
    expect(model({ prefix: ['o', 'gpt-'] }, 'gpt-5')).to.equal(true)
    expect(model({ prefix: 'gpt-' }, 'my-gpt-5')).to.equal(false)
    for (const [pattern, name, fits] of [
      ['claude-*', 'claude-', true],
      ['claude-*-2026*', 'claude-sonnet-20260101', true],
      ['claude-*-2026*', 'claude-2026', false],
      ['*mini', 'mini', true],
      ['*mini*', 'a-mini-b', true],
      ['a*a', 'a', false],
      ['a*b*a', 'aba', true],
      ['*', '', true],
      ['small', 'small', true],
      ['small', 'smaller', false],
      ['s.all', 'small', false],
    ] as const)
      expect(model({ pattern }, name), `${pattern} ${name}`).to.equal(fits)
    expect(model({ not: { pattern: '*mini' }, prefix: 'gpt' }, 'gpt-5')).to.equal(true)
    expect(model({ not: { pattern: '*mini' }, prefix: 'gpt' }, 'gpt-5-mini')).to.equal(false)
    expect(model({ not: ['a', 'b'] }, 'c')).to.equal(true)
  })

  it('takes time in proportion to the text that a pattern is compared with', () => {
    const pattern = `${'*a'.repeat(20)}b`
    const took = (length: number) => {
      const text = 'a'.repeat(length)
      let best = Infinity
      for (let round = 0; round < 7; round++) {
        const before = process.cpuUsage()
        for (let times = 0; times < 20; times++) matches({ 'request.model': { pattern } }, { request: { model: text } })
        const { user, system } = process.cpuUsage(before)
        best = Math.min(best, user + system)
      }
      return best
    }
    took(50_000)
    // Sixteen times as long: a quadratic walk would take 256 times as much.
    expect(took(1_600_000) / Math.max(took(100_000), 1)).to.be.below(100)
  })

  it('says what no value can be matched by', () => {
    const wrong = (value: unknown) => readCondition('request.model', value, slots, place)
    expect(wrong({})).to.match(/^a value is matched by/)
    expect(wrong([])).to.match(/^a value is matched by/)
    expect(wrong({ suffix: 'x' })).to.match(/^a value is matched by/)
    expect(wrong({ prefix: 1 })).to.equal('"prefix" takes a text, or a list of texts')
    expect(wrong({ not: {} })).to.match(/^a value is matched by/)
    expect(readCondition('request', 'x', slots, place)).to.match(/^a whole slot/)
  })

  it('proves that a slot is there only where the condition could not hold without it', () => {
    const proof = (key: string, value: unknown) => proves(readCondition(key, value, slots, place) as Condition)
    expect(proof('request', true)).to.equal(true)
    expect(proof('request', false)).to.equal(false)
    expect(proof('request.model', 'x')).to.equal(true)
    expect(proof('request.model', { not: 'x' })).to.equal(false)
    expect(proof('request.model', { not: 'x', prefix: 'y' })).to.equal(true)
  })
})
