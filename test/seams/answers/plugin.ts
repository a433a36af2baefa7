import { GatewayError, defineProvider, definePlugin, defineStage, noConfig } from 'sluice'
import type { AnyStage, GenerateEvent, UpstreamAnswer } from 'sluice'

/** A stage between "call" and "translate-back". */
const stage = (name: string, see: (answer: UpstreamAnswer, note: (seen: string) => void) => UpstreamAnswer): AnyStage =>
  defineStage({
    name: `answers.${name}`,
    summary: 'Does something with the events of an answer.',
    config: noConfig,
    needs: ['answer'],
    provides: ['answer'],
    build:
      () =>
      ({ answer }, scope) => {
        const seen: string[] = []
        return { answer: see(answer, (one) => scope.note(name, [...(seen.push(one), seen)])) }
      },
  })

const isLast = ({ type }: GenerateEvent) => type === 'finish' || type === 'failure'
const told = (event: GenerateEvent) =>
  event.type === 'delta' ? event.text : event.type === 'failure' ? String(event.failure.code) : event.type

/** Text in capitals, which the end puts a full stop after. */
const shout = (note: (seen: string) => void) => () => ({
  *event(event: GenerateEvent): Iterable<GenerateEvent> {
    note(told(event))
    if (event.type === 'item-end') yield { type: 'delta', index: event.index, text: '.' }
    yield event.type === 'delta' ? { ...event, text: event.text.toUpperCase() } : event
  },
})

const start: readonly GenerateEvent[] = [
  { type: 'start', model: 'm' },
  { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
  { type: 'part', index: 0, kind: 'text' },
  { type: 'delta', index: 0, text: 'half' },
]

/** A provider of neutral events that throws in the middle, or just ends. */
const half = (name: string, end: () => void) =>
  defineProvider({
    name,
    summary: 'Does not come to its end.',
    config: noConfig,
    offers: () => [{ operation: 'generate' }],
    open: () => ({
      answer: {
        async *generate() {
          yield* start
          end()
        },
      },
    }),
  })

export default definePlugin({
  name: 'answers',
  summary: 'Looks at answers and changes them.',
  providers: [
    half('throws', () => {
      throw new Error('out of order')
    }),
    half('ends', () => undefined),
  ],
  stages: [
    stage('watch', (answer, note) => answer.watch((event) => note(told(event)))),
    stage('watch-generate', (answer, note) =>
      answer.operation === 'generate' ? answer.watch((event) => note(told(event))) : answer,
    ),
    stage('blind', (answer, note) =>
      answer.watch((event) => {
        note(told(event))
        throw new Error('looked away')
      }),
    ),
    stage('shout', (answer, note) => answer.map(shout(note))),
    stage('watch-quietly', (answer) => answer.watch(() => undefined)),
    stage('shout-quietly', (answer) => answer.map(shout(() => undefined))),
    stage('drop', (answer) => answer.map(() => ({ event: (event) => (isLast(event) ? [] : [event]) }))),
    stage('refuse', (answer) =>
      answer.map(() => ({
        event(event) {
          if (event.type === 'delta') throw new GatewayError('refused', {}, { message: 'Not this.' })
          return [event]
        },
      })),
    ),
    stage('fail', (answer) =>
      answer.map(() => ({
        event(event) {
          if (event.type === 'delta') throw new Error('of no concern to clients')
          return [event]
        },
      })),
    ),
    stage('fail-at-once', (answer) =>
      answer.map(() => {
        throw new Error('of no concern to clients')
      }),
    ),
    stage('enough', (answer) =>
      answer.map(() => ({
        event: (event) => (event.type === 'delta' ? [event, { type: 'finish', stop: 'filter' }] : [event]),
      })),
    ),
  ],
})
