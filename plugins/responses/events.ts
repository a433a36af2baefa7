import type { JsonObject } from '../../engine/index.ts'
import type { ItemPrinter, PartPrinter } from './print-item-events.ts'

/** An event of a stream. */
export type StreamEvent = JsonObject & { readonly type: string; readonly sequence_number: number }

/** A text delta of a part. */
export function textDelta(
  sequence: number,
  { id, outputIndex }: ItemPrinter,
  { kind, index }: PartPrinter,
  delta: string,
  logprobs: readonly JsonObject[],
): StreamEvent {
  const place = { sequence_number: sequence, item_id: id, output_index: outputIndex }
  switch (kind) {
    case 'text':
      return { type: 'response.output_text.delta', ...place, content_index: index, delta, logprobs }
    case 'refusal':
      return { type: 'response.refusal.delta', ...place, content_index: index, delta }
    case 'summary':
      return { type: 'response.reasoning_summary_text.delta', ...place, summary_index: index, delta }
  }
}

/** The whole text of a part. */
export function textDone(sequence: number, { id, outputIndex }: ItemPrinter, part: PartPrinter): StreamEvent {
  const { kind, index, text } = part
  const place = { sequence_number: sequence, item_id: id, output_index: outputIndex }
  switch (kind) {
    case 'text':
      return { type: 'response.output_text.done', ...place, content_index: index, text, logprobs: part.logprobs }
    case 'refusal':
      return { type: 'response.refusal.done', ...place, content_index: index, refusal: text }
    case 'summary':
      return { type: 'response.reasoning_summary_text.done', ...place, summary_index: index, text }
  }
}

/** The start (still empty) or the end of a part. */
export function partEvent(
  sequence: number,
  { id, outputIndex }: ItemPrinter,
  part: PartPrinter,
  end: 'added' | 'done',
): StreamEvent {
  const { kind, index } = part
  const place = { sequence_number: sequence, item_id: id, output_index: outputIndex }
  return kind === 'summary'
    ? { type: `response.reasoning_summary_part.${end}`, ...place, summary_index: index, part: part.print() }
    : { type: `response.content_part.${end}`, ...place, content_index: index, part: part.print() }
}

/** The input of a call: a delta or all of it. */
export function inputEvent(
  sequence: number,
  { id, outputIndex, type, name }: ItemPrinter,
  end: 'delta' | 'done',
  input: string,
): StreamEvent {
  const place = { sequence_number: sequence, item_id: id, output_index: outputIndex }
  if (type === 'custom_tool_call') {
    const event = `response.custom_tool_call_input.${end}`
    return end === 'delta' ? { type: event, ...place, delta: input } : { type: event, ...place, input }
  }
  const event = `response.function_call_arguments.${end}`
  return end === 'delta' ? { type: event, ...place, delta: input } : { type: event, ...place, name, arguments: input }
}
