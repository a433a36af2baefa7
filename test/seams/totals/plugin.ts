import { definePlugin, defineService, defineStage, noConfig } from 'sluice'
import type { Json } from 'sluice'

interface Totals {
  /** Counts a request of this process. */
  count(): void
  /** Asks the first process, for a second at most. */
  ask(question: string): Promise<Json | undefined>
}

declare module 'sluice' {
  interface Services {
    acme_totals: Totals
  }
}

const module = new URL('./first.ts', import.meta.url)

const totals = defineService({
  name: 'acme_totals',
  summary: 'Counts the requests of all processes.',
  open({ firstProcess }) {
    let count = 0
    let closes = false
    const last = firstProcess?.report(module, () => ({ count, closes }))
    const view: Totals = {
      count: () => void (count += 1),
      ask: async (question) => firstProcess?.ask(module, question, 1_000),
    }
    return {
      configure: () => ({ view }),
      close() {
        closes = true
        return last?.()
      },
    }
  },
})

const reply = (value: Json) => ({ reply: { status: 200, headers: {}, body: { kind: 'json', value } as const } })

const count = defineStage({
  name: 'acme-count',
  summary: 'Count the request.',
  config: noConfig,
  needs: [],
  provides: ['reply'],
  uses: ['acme_totals'],
  build:
    (_config, _host, { acme_totals: shared }) =>
    () => {
      shared.count()
      return reply({ pid: process.pid })
    },
})

const sum = defineStage({
  name: 'acme-sum',
  summary: 'Answer what the first process says.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['acme_totals'],
  build:
    (_config, _host, { acme_totals: shared }) =>
    async ({ ingress }) => {
      const started = performance.now()
      try {
        return reply({ said: (await shared.ask(ingress.query.get('ask') ?? 'sum')) ?? null })
      } catch (error) {
        return reply({ error: String(error), after: performance.now() - started })
      }
    },
})

export default definePlugin({ name: 'totals', summary: 'Totals.', services: [totals], stages: [count, sum] })
