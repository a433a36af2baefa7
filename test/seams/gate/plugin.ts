import { channel } from 'node:diagnostics_channel'
import { definePlugin, defineProvider, defineStage, noConfig } from 'sluice'
import type { GenerateEvent, Host, Scope, UpstreamAnswer } from 'sluice'

/** What a test is handed for each answer: it may put handlers on it. */
export interface Act {
  readonly model: string
  readonly scope: Scope
  readonly host: Host
  answer: UpstreamAnswer
  /** Called when the stage settles. */
  settled: () => void
  /** What could not be done. */
  error?: unknown
}

const acts = channel('test.gate')

/** Events of the provider `neutral`; a test may replace them. */
const said: readonly GenerateEvent[] = [
  { type: 'start', id: 'n1', model: 'vendor-model' },
  { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
  { type: 'part', index: 0, kind: 'text' },
  { type: 'delta', index: 0, text: 'Hello ' },
  { type: 'delta', index: 0, text: 'there' },
  { type: 'item-end', index: 0 },
  {
    type: 'finish',
    stop: 'end',
    usage: { input: 9, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 },
  },
]

export default definePlugin({
  name: 'gate',
  summary: 'Judges answers.',
  providers: [
    defineProvider({
      name: 'neutral',
      summary: 'Answers in neutral form.',
      config: noConfig,
      offers: () => [{ operation: 'generate' }],
      open: () => ({
        answer: {
          async *generate() {
            const saying = { events: said as Iterable<GenerateEvent> | AsyncIterable<GenerateEvent> }
            channel('test.gate.provider').publish(saying)
            yield* saying.events
          },
        },
      }),
    }),
  ],
  stages: [
    defineStage({
      name: 'gate.act',
      summary: 'Does with an answer what a test wants.',
      config: noConfig,
      needs: ['model', 'answer'],
      provides: ['answer'],
      settles: [],
      build:
        (_, host) =>
        ({ model, answer }, scope, settle) => {
          const act: Act = { model: model.model.name, scope, host, answer, settled: () => undefined }
          acts.publish(act)
          if (act.error) throw act.error
          settle(() => act.settled())
          return { answer: act.answer }
        },
    }),
  ],
})
