import { expect } from 'chai'
import { matcher, readCondition } from '../../../engine/pipeline/match.ts'
import type { Condition } from '../../../engine/pipeline/match.ts'
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
      accepts: [1],
    })
  })
})
