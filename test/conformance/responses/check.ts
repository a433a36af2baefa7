import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { orderFaults } from './order.ts'
import { flaws } from './schemas.ts'

/** Checks a response object against its schema, and that its fields agree with its status. */
export function conforms(response: JsonObject): void {
  expect(flaws('response', response), JSON.stringify(response).slice(0, 2000)).to.deep.equal([])
  const { status, error, incomplete_details: details, usage } = response
  expect(error !== null, 'an error with failed responses alone').to.equal(status === 'failed')
  expect(details !== null, 'details with incomplete responses alone').to.equal(status === 'incomplete')
  if (status === 'completed') expect(response['output']).to.not.have.length(0)
  const counts = usage as Record<string, number> | null
  if (counts) expect(counts['total_tokens']).to.equal((counts['input_tokens'] ?? 0) + (counts['output_tokens'] ?? 0))
}

/** Checks the bytes of a stream: their framing, each event by its schema, and the order of all. Gives the events. */
export function streamConforms(stream: string): readonly JsonObject[] {
  expect(stream, 'lines end in LF').to.not.contain('\r')
  const frames = stream.split('\n\n')
  expect(frames.splice(-2), 'the last frame').to.deep.equal(['data: [DONE]', ''])
  const events = frames.map((frame) => {
    const lines = /^event: ([\w.]+)\ndata: ([^\n]*)$/.exec(frame)
    expect(lines, `one event line and one data line: ${frame.slice(0, 200)}`).to.not.equal(null)
    const event = JSON.parse(lines?.[2] ?? '') as JsonObject
    expect(event['type'], 'the event is named by its type').to.equal(lines?.[1])
    return event
  })
  for (const event of events) expect(flaws('event', event), JSON.stringify(event).slice(0, 2000)).to.deep.equal([])
  expect(orderFaults(events)).to.deep.equal([])
  conforms(events.at(-1)?.['response'] as JsonObject)
  return events
}
