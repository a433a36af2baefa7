import { defineService } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Services {
    signals: object
  }
}

/** Keeps all signals ready while virtual models are served: nobody's request waits for a module or a thread. */
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
          if (!routing.enabled) return
          // One that cannot be loaded is told of when it is asked.
          for (const { module, quick } of signals) if (quick !== undefined) import(module.href).catch(() => undefined)
          const passed = signals.filter(({ quick }) => quick !== Infinity)
          if (passed.length > 0) release = host.keepLoaded(passed.map(({ module }) => module))
        },
        close: () => release?.(),
      }
    },
  }),
})
