import { spliceMember } from '../../engine/kit.ts'

/** Paths of the model's name in answers and events of all protocols. */
const places: readonly { readonly key: string; readonly paths: readonly (readonly string[])[] }[] = [
  { key: '"model"', paths: [['model'], ['message', 'model'], ['response', 'model']] },
  { key: '"modelVersion"', paths: [['modelVersion']] },
]

/** An answer, or the start of one, without the model's name, which the printer sets. */
export function nameless<T extends { readonly model?: string }>(told: T): Omit<T, 'model'> {
  const { model: _, ...others } = told
  return others
}

/** A relayed answer with `model` in place of the provider's name; all other bytes stay unchanged. */
export function named(answer: Buffer, model: string): Buffer {
  return mentions(answer) ? Buffer.from(renamed(answer.toString(), model)) : answer
}

/** The same for whole events whose lines end in LF. These protocols write the data of each in one line. */
export function namedEvents(events: Buffer, model: string): Buffer {
  if (!mentions(events)) return events
  const lines = events.toString().split('\n')
  return Buffer.from(lines.map((line) => (line.startsWith('data:') ? renamed(line, model) : line)).join('\n'))
}

function mentions(text: Buffer): boolean {
  return places.some(({ key }) => text.includes(key))
}

function renamed(text: string, model: string): string {
  const paths = places.flatMap(({ key, paths }) => (text.includes(key) ? paths : []))
  return paths.reduce((told, path) => spliceMember(told, path, model), text)
}
