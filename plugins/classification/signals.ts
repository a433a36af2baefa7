import { defineService } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Services {
    signals: object
  }
}

/** Keeps a thread with all signals ready while virtual models are served: nobody's request waits for it to start. */
export default defineService({
  name: 'signals',
  summary: 'Keeps the signals ready to judge requests.',
  uses: ['smart_routing'],
  open: (host) => ({
    configure(_, { smart_routing: routing }, { signals }) {
      let release: (() => void) | undefined
      return {
        view: {},
        live() {
          if (routing.enabled) release = host.keepLoaded(signals.map(({ module }) => module))
        },
        close: () => release?.(),
      }
    },
  }),
})
