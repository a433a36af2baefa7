import { definePlugin, defineSignal, defineStage, noConfig } from 'sluice'
import type { JsonObject } from 'sluice'

/** Shows what `classify` made of a request, with the texts of earlier turns. */
const show = defineStage({
  name: 'acme-show',
  summary: 'Show the ensemble.',
  config: noConfig,
  needs: ['ensemble'],
  provides: ['reply'],
  build:
    () =>
    ({ ensemble: { earlier, ...ensemble } }) => ({
      reply: {
        status: 200,
        headers: {},
        body: { kind: 'json', value: { ...ensemble, earlier: earlier(2) } as unknown as JsonObject },
      },
    }),
})

export default definePlugin({
  name: 'acme',
  summary: 'What operators add.',
  signals: [
    defineSignal({
      name: 'acme-shout',
      summary: 'Holds a request in capitals for hard.',
      module: new URL('./shout.ts', import.meta.url),
    }),
  ],
  stages: [show],
})
