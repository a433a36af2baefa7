import * as fc from 'fast-check'
import { encodeFrame, unfold } from '../../../engine/kit.ts'
import type { GenerateEvent, JsonObject } from '../../../engine/index.ts'
import responses from '../../../plugins/responses/codec.ts'
import { origin } from '../../golden/arbitrary-items.ts'
import { replies } from '../../golden/arbitrary-replies.ts'
import type { Generating } from '../../golden/upstreams.ts'
import { conforms, streamConforms } from './check.ts'

const codec = responses as Generating
const asked = { id: '00000000-0000-7000-8000-000000000000', model: 'm', stream: true, origin, body: { store: false } }
const failure = { status: 502, code: 'upstream_error', type: 'server_error', message: 'Oh', param: null }

function written(events: readonly GenerateEvent[]): string {
  const writer = codec.events.printer(asked)
  return events.flatMap((event) => [...writer.print(event)].map(encodeFrame)).join('')
}

/** Events of the protocol's own items, whose content a schema of answers does not know. */
function isOwn(event: GenerateEvent): boolean {
  return event.type === 'item' && event.item.type === 'opaque'
}

describe('any answer to a responses client conforms', () => {
  const answers = replies.map((reply) => ({
    ...reply,
    items: reply.items.filter(({ type }) => type !== 'opaque' && type !== 'result'),
  }))

  it('whole', () => {
    fc.assert(
      fc.property(answers, (reply) => conforms(codec.reply.print(reply, asked).body)),
      { numRuns: 300 },
    )
  })

  it('streamed, to its end or to wherever it breaks', () => {
    fc.assert(
      fc.property(answers, fc.nat(), (reply, cut) => {
        const events = [...unfold(reply)]
        streamConforms(written(events))
        const kept = events.slice(0, cut % events.length)
        streamConforms(written([...kept.filter((event) => !isOwn(event)), { type: 'failure', failure }]))
      }),
      { numRuns: 300 },
    )
  })

  it('with calls whose pieces interleave', () => {
    const open = (index: number): GenerateEvent => ({
      type: 'item',
      index,
      item: { type: 'call', kind: 'function', callId: `call_${index}`, name: 'look', input: '' },
    })
    const events: GenerateEvent[] = [
      open(0),
      open(1),
      { type: 'delta', index: 1, text: '{"b":' },
      { type: 'delta', index: 0, text: '{}' },
      { type: 'delta', index: 1, text: '1}' },
      { type: 'item-end', index: 1 },
      { type: 'item-end', index: 0 },
      { type: 'finish', stop: 'tool' },
    ]
    const response = streamConforms(written(events)).at(-1)?.['response'] as { output: JsonObject[] }
    const inputs = response.output.map((item) => item['arguments'] as string)
    if (inputs.join() !== '{},{"b":1}') throw new Error(inputs.join())
  })
})
