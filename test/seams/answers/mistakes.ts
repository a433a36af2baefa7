import type { GenerateEvent } from '../../../engine/index.ts'

/** What a stage in JavaScript may return for an event, by the type of the event. */
type Mistake = Readonly<Partial<Record<GenerateEvent['type'], (event: GenerateEvent) => unknown>>>

const without = (field: string) => (event: GenerateEvent) => [
  Object.fromEntries(Object.entries(event).filter(([name]) => name !== field)),
]

/** One for each model of the test, by its name. */
export const mistakes: Readonly<Record<string, Mistake>> = {
  'a-part-without-a-kind': { part: without('kind') },
  'a-text-that-is-a-number': { delta: (event) => [{ ...event, text: 5 }] },
  'a-text-of-an-item-that-was-never-opened': { delta: (event) => [{ ...event, index: 7 }] },
  'an-item-without-content': { item: (event) => [{ ...event, item: { type: 'message', role: 'assistant' } }] },
  'an-item-of-an-unknown-type': { item: (event) => [{ ...event, item: { type: 'picture' } }] },
  'an-end-without-a-reason': { finish: without('stop') },
  'an-event-without-a-type': { delta: without('type') },
  'nothing-at-all': { delta: () => undefined },
  'a-promise': { delta: (event) => Promise.resolve([event]) },
  'an-error': {
    delta: () => {
      throw new Error('of no concern to clients')
    },
  },
}
