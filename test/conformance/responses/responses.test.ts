import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { conforms, streamConforms } from './check.ts'
import { orderFaults } from './order.ts'
import { flaws } from './schemas.ts'

const folder = join(import.meta.dirname, '..', '..', 'golden', 'responses')
const files = readdirSync(folder)
const read = (file: string) => readFileSync(join(folder, file), 'utf8')

/** What the golden exchanges prove the gateway to answer, held against the published rules. */
describe('answers to responses clients conform', () => {
  for (const file of files.filter((name) => name.endsWith('.reply.json')))
    it(file, () => conforms(JSON.parse(read(file)) as JsonObject))

  for (const file of files.filter((name) => name.endsWith('.reply.frames.txt')))
    it(file, () => {
      streamConforms(read(file))
    })
})

describe('the check of responses itself', () => {
  const events = streamConforms(read('reasoning.messages.reply.frames.txt'))
  const without = (type: string) => {
    const at = events.findIndex((event) => event['type'] === type)
    return events.toSpliced(at, 1).map((event, index) => ({ ...event, sequence_number: index }))
  }

  it('misses every event that a stream leaves out', () => {
    const types = new Set(events.map(({ type }) => type as string))
    expect(types.size).to.be.greaterThan(12)
    for (const type of types) expect(orderFaults(without(type)), type).to.not.deep.equal([])
  })

  it('sees numbers with gaps, ids that change, deltas out of place and words that do not add up', () => {
    const change = (type: string, fields: JsonObject) =>
      events.map((event) => (event['type'] === type ? { ...event, ...fields } : event))
    expect(orderFaults(change('response.output_text.delta', { sequence_number: 0 }))).to.not.deep.equal([])
    expect(orderFaults(change('response.output_text.delta', { item_id: 'msg_other' }))).to.not.deep.equal([])
    expect(orderFaults(change('response.output_text.delta', { delta: 'x' }))).to.not.deep.equal([])
    expect(orderFaults(change('response.output_text.delta', { output_index: 99 }))).to.not.deep.equal([])
    expect(orderFaults(change('response.in_progress', { response: { id: 'resp_other' } }))).to.not.deep.equal([])
    expect(orderFaults(change('response.function_call_arguments.done', { arguments: '[]' }))).to.not.deep.equal([])
    expect(orderFaults([...events, ...events.slice(-1)])).to.not.deep.equal([])
  })

  it('misses every field that a response leaves out', () => {
    const response = JSON.parse(read('full.messages.reply.json')) as JsonObject
    for (const field of Object.keys(response)) {
      const { [field]: _, ...rest } = response
      expect(flaws('response', rest), field).to.have.length(1)
    }
  })

  it('misses every field that an event leaves out', () => {
    for (const event of events)
      for (const field of Object.keys(event).filter((name) => name !== 'name')) {
        const { [field]: _, ...rest } = event
        expect(flaws('event', rest), `${event['type'] as string}.${field}`).to.not.deep.equal([])
      }
  })
})
