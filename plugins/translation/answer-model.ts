import { spliceMember } from '../../engine/kit.ts'

/** Paths of the model's name in answers and events of all protocols. */
const places = [['model'], ['message', 'model'], ['response', 'model']] as const
const key = '"model"'

/** An answer, or the start of one, without the model's name, which the printer sets. */
export function nameless<T extends { readonly model?: string }>(told: T): Omit<T, 'model'> {
  const { model: _, ...others } = told
  return others
}

/** A relayed answer with `model` in place of the provider's name; all other bytes stay unchanged. */
export function named(answer: Buffer, model: string): Buffer {
  return answer.includes(key) ? Buffer.from(renamed(answer.toString(), model)) : answer
}

/** The same for whole events whose lines end in LF. These protocols write the data of each in one line. */
export function namedEvents(events: Buffer, model: string): Buffer {
  if (!events.includes(key)) return events
  const lines = events.toString().split('\n')
  return Buffer.from(lines.map((line) => (line.startsWith('data:') ? renamed(line, model) : line)).join('\n'))
}

function renamed(text: string, model: string): string {
  return text.includes(key) ? places.reduce((told, path) => spliceMember(told, path, model), text) : text
}
