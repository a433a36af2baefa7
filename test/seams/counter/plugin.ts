import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { definePlugin, defineService, defineStage, noConfig } from 'sluice'
import type { Told } from 'sluice'

interface Counter {
  /** The counts in the text format of Prometheus. */
  print(): string
}

declare module 'sluice' {
  interface Services {
    acme_counter: Counter
  }
}

const counter = defineService({
  name: 'acme_counter',
  summary: 'Counts what the gateway does.',
  open() {
    const counts = new Map<string, number>()
    const add = (name: string, labels: Readonly<Record<string, string | number | undefined>>, by = 1) => {
      const shown = Object.entries(labels).map(([label, value]) => `${label}="${value ?? ''}"`)
      const line = `acme_${name}{${shown.join()}}`
      counts.set(line, (counts.get(line) ?? 0) + by)
    }
    const listeners: { readonly [K in keyof Told]: (message: Told[K]) => void } = {
      exchange({ pipeline, status, model, bill, error }) {
        add('exchanges', { pipeline, status, model, error: error?.code })
        if (bill?.tokens) add('tokens', { model }, bill.tokens.input + bill.tokens.output)
      },
      stage: ({ stage, error }) => add('stages', { stage, error: error?.code }),
      attempt: ({ model, error }) => add('attempts', { model, error: error?.code }),
      call: ({ provider, status, error }) => add('calls', { provider, status, error: error?.code }),
      socket: ({ carries }) => add('sockets', { carries }),
      reload: ({ result }) => add('reloads', { result }),
    }
    const listening = Object.entries(listeners) as [keyof Told, (message: unknown) => void][]
    for (const [kind, listener] of listening) subscribe(`sluice:${kind}:end`, listener)
    return {
      configure: () => ({
        view: {
          print: () =>
            [...counts]
              .map(([line, count]) => `${line} ${count}\n`)
              .sort()
              .join(''),
        },
      }),
      close() {
        for (const [kind, listener] of listening) unsubscribe(`sluice:${kind}:end`, listener)
      },
    }
  },
})

const counts = defineStage({
  name: 'acme-counts',
  summary: 'Answer with the counts.',
  config: noConfig,
  uses: ['acme_counter'],
  needs: [],
  provides: ['reply'],
  build:
    (_, _host, { acme_counter }) =>
    () => {
      const bytes = Buffer.from(acme_counter.print())
      return { reply: { status: 200, headers: {}, body: { kind: 'bytes', bytes, type: 'text/plain; version=0.0.4' } } }
    },
})

export default definePlugin({
  name: 'acme-counter',
  summary: 'Counts what the gateway does.',
  services: [counter],
  stages: [counts],
})
