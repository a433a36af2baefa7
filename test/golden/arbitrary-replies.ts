import * as fc from 'fast-check'
import type { GenerateReply, Item, Message, Reasoning, ToolCall } from '../../engine/index.ts'
import { joined, opaque, optional, origin, reasoning, refusalPart, said } from './arbitrary-items.ts'

const spoken: fc.Arbitrary<Message> = fc.record({
  type: fc.constant('message' as const),
  role: fc.constant('assistant' as const),
  content: fc.array(fc.oneof(fc.record({ type: fc.constant('text' as const), text: said }), refusalPart), {
    minLength: 1,
    maxLength: 2,
  }),
})
const madeCall: fc.Arbitrary<ToolCall> = joined(
  fc.record({
    type: fc.constant('call' as const),
    kind: fc.constantFrom('function' as const, 'custom' as const),
    callId: fc.uuid(),
    name: fc.constantFrom('look', 'move'),
    input: fc.constantFrom('{"city":"Rome"}', '{}', '', '{"a":1,"b":[true,null]}'),
  }),
  optional({ namespace: fc.constant('ns') }),
)

/** Any whole answer of an upstream, in neutral form. */
export const replies: fc.Arbitrary<GenerateReply> = joined(
  fc.record({
    items: fc.array(
      fc.oneof<fc.Arbitrary<Item>[]>(spoken, madeCall, reasoning(fc.constant(origin)).map(unsealedOrigin), opaque),
      { maxLength: 5 },
    ),
    stop: fc.constantFrom('end', 'stop', 'length', 'context', 'tool', 'refusal', 'filter', 'pause'),
  }),
  optional({
    created: fc.constant(1_700_000_000),
    serviceTier: fc.constantFrom('default', 'priority'),
    stopSequence: fc.constant('END'),
    usage: fc.record({
      input: fc.nat(99),
      cacheRead: fc.nat(99),
      cacheWrite: fc.nat(99),
      output: fc.nat(99),
      reasoning: fc.nat(99),
    }),
  }),
)

/** The seals of an answer have no origin yet. */
function unsealedOrigin(item: Reasoning): Reasoning {
  if (!item.seal) return item
  const { origin: _origin, ...made } = item.seal
  return { ...item, seal: made }
}
