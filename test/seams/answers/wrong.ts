import { definePlugin, defineStage, noConfig } from 'sluice'
import { mistakes } from './mistakes.ts'

export default definePlugin({
  name: 'wrong',
  summary: 'Gets the events of answers wrong.',
  stages: [
    defineStage({
      name: 'wrong.map',
      summary: 'Makes the mistake that the model is named after.',
      config: noConfig,
      needs: ['model', 'answer'],
      provides: ['answer'],
      build:
        () =>
        ({ model, answer }) => {
          const mistake = mistakes[model.model.name] ?? {}
          return {
            answer: answer.map(() => ({
              event: (event) =>
                (mistake[event.type]?.(event) ?? (event.type in mistake ? undefined : [event])) as never,
            })),
          }
        },
    }),
  ],
})
