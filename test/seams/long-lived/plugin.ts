import { GatewayError, defineCodec, definePlugin, defineService, defineStage, noConfig } from 'sluice'
import type { Reply, Sink, Source } from 'sluice'
import { encodeFrame } from 'sluice/kit'

/** What the stages of one configuration see of the news. */
interface News {
  readonly greeting: string
  /** Everything that is told from now on, until the listener is forgotten. */
  listen(name: string): Source
  /** Tells all listeners, and answers how many there are. */
  tell(text: string): number
  /** Ends the streams of a listener. False: there is none of this name. */
  forget(name: string): boolean
  /** A listener's exchange is over. */
  settled(): void
  readonly state: { readonly listeners: number; readonly settled: number; readonly closed: readonly string[] }
}

declare module 'sluice' {
  interface Services {
    acme: News
  }
  interface Operations {
    'acme.call': { request: never; reply: never; event: never }
  }
}

const news = defineService({
  name: 'acme',
  summary: 'Tells whoever listens what is new.',
  settings: {
    type: 'object',
    additionalProperties: false,
    properties: { greeting: { type: 'string', default: 'hello', description: 'What a listener hears first.' } },
  } as const,
  open() {
    const sinks = new Map<Sink, string>()
    const closed: string[] = []
    let settled = 0
    const say = (sink: Sink, text: string) => sink.data(Buffer.from(encodeFrame({ data: text })))
    return {
      configure: ({ greeting }) => ({
        view: {
          greeting,
          listen: (name) => ({
            open(sink) {
              sinks.set(sink, name)
              queueMicrotask(() => say(sink, `${greeting} ${name}`))
              return { pause: () => undefined, resume: () => undefined, cancel: () => void sinks.delete(sink) }
            },
          }),
          tell(text) {
            for (const sink of sinks.keys()) say(sink, text)
            return sinks.size
          },
          forget(name) {
            const found = [...sinks].filter(([, owner]) => owner === name)
            for (const [sink] of found) {
              sinks.delete(sink)
              sink.end()
            }
            return found.length > 0
          },
          settled: () => settled++,
          get state() {
            return { listeners: sinks.size, settled, closed }
          },
        },
        close: () => void closed.push(greeting),
      }),
    }
  },
})

const listen = defineStage({
  name: 'acme-listen',
  summary: 'Answers a stream of what is new, for as long as the client likes.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  settles: ['outcome'],
  uses: ['acme'],
  build:
    (_, host, { acme }) =>
    ({ ingress }, scope, settle): { reply: Reply } => {
      settle(() => acme.settled())
      const source = acme.listen(ingress.params['*'] ?? '')
      return {
        reply: { status: 200, headers: {}, body: { kind: 'stream', source, type: 'text/event-stream', lasting: true } },
      }
    },
})

const tell = defineStage({
  name: 'acme-tell',
  summary: 'Tells everybody what a request says.',
  config: noConfig,
  needs: ['request'],
  provides: ['reply'],
  uses: ['acme'],
  build:
    (_, host, { acme }) =>
    ({ request }): { reply: Reply } => {
      const { text } = request.body
      if (typeof text !== 'string') throw new GatewayError('invalid_value', { param: 'text', reason: 'it is no text' })
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value: { told: acme.tell(text) } } } }
    },
})

const forget = defineStage({
  name: 'acme-forget',
  summary: 'Ends the streams of a listener.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['acme'],
  build:
    (_, host, { acme }) =>
    ({ ingress: { method, path, params } }): { reply: Reply } => {
      if (!acme.forget(params['*'] ?? '')) throw new GatewayError('not_found', { method, path })
      return { reply: { status: 204, headers: {}, body: { kind: 'none' } } }
    },
})

const state = defineStage({
  name: 'acme-state',
  summary: 'Tells how the news are doing.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['acme'],
  build:
    (_, host, { acme }) =>
    (): { reply: Reply } => ({
      reply: { status: 200, headers: {}, body: { kind: 'json', value: { ...acme.state, greeting: acme.greeting } } },
    }),
})

/** A protocol whose errors answer to the id of the request. */
const call = defineCodec({
  protocol: 'acme-call',
  operation: 'acme.call',
  summary: 'Calls with an id.',
  schema: { type: 'object' },
  head: () => ({ model: '', stream: false, background: false }),
  error: {
    parse: (status) => ({ status, code: null, type: 'acme', message: '', param: null }),
    print: ({ message }, _, asked) => ({ id: asked?.['id'] ?? null, error: { message } }),
  },
  meter: { reply: () => ({}), stream: () => ({ complete: true }) },
})

export default definePlugin({
  name: 'acme',
  summary: 'News for whoever listens.',
  services: [news],
  codecs: [call],
  stages: [listen, tell, forget, state],
})
