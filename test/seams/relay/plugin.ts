import { GatewayError, defineCodec, definePlugin, defineProvider, defineStage, noConfig } from 'sluice'
import type { Candidate, Outcome } from 'sluice'
import { dial, joined } from 'sluice/kit'

declare module 'sluice' {
  interface Operations {
    'acme.talk': { request: never; reply: never; event: never }
  }
}

const protocol = 'acme-live'

/** What is waited for between the upstream's socket and the client's, and the model whose socket is not taken then. */
export const gate: { open: Promise<void> | undefined; shut: string | undefined } = { open: undefined, shut: undefined }

/** How sessions ended, for the test that runs this. */
export const ended: Outcome[] = []

const talk = defineCodec({
  protocol,
  operation: 'acme.talk',
  summary: 'A conversation over a socket.',
  schema: { type: 'object' },
  head: () => ({ model: '', stream: true, background: false }),
  error: {
    parse: (status) => ({ status, code: null, type: 'acme', message: '', param: null }),
    print: ({ code, message }) => ({ type: 'error', error: { code, message } }),
  },
  meter: { reply: () => ({}), stream: () => ({ complete: true }) },
})

const live = defineProvider({
  name: 'acme-live',
  summary: 'Talks over sockets.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['base_url', 'api_key'],
    properties: {
      base_url: { type: 'string', description: 'Where it listens.' },
      api_key: { type: 'string', description: 'What it is shown.' },
    },
  } as const,
  secrets: ['api_key'],
  offers: () => [{ operation: 'acme.talk', protocol }],
  open: ({ base_url: base, api_key: key }, host) => ({
    dial({ query, model, publicName, scope, timeout }) {
      const url = new URL('/talk', base.replace(/^http/, 'ws'))
      for (const [name, value] of query) url.searchParams.append(name, value)
      url.searchParams.set('model', model)
      const headers = { authorization: `Bearer ${key}` }
      return dial({ url, headers, model: publicName ?? model, timeout, scope }, host)
    },
  }),
})

const pick = defineStage({
  name: 'acme-pick',
  summary: 'Find the models that the address names.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['candidates'],
  build:
    (_, { catalog }) =>
    ({ ingress, principal }) => {
      const candidates = (ingress.query.get('model') ?? '').split(',').map((name): Candidate => {
        const model = catalog.find(name)
        const provider = model && catalog.provider(model.provider)
        const offer = provider?.offers.find((one) => one.protocol === protocol)
        if (!model || !provider || !offer) throw new GatewayError('model_not_found', { model: name })
        if (principal.models?.has(name) === false) throw new GatewayError('model_not_allowed', { model: name })
        return { model, provider, offer, origin: '' }
      })
      return { candidates }
    },
})

const open = defineStage({
  name: 'acme-open',
  summary: 'Open a socket to the provider and join the client with it.',
  config: noConfig,
  needs: ['ingress', 'model'],
  provides: ['reply'],
  build:
    () =>
    async ({ ingress, model: { model, provider, offer } }, scope) => {
      const { operation } = offer
      const call = { operation, protocol, model: model.upstream_model, publicName: model.name, scope }
      const upstream = await provider.provider.dial?.({ ...call, query: ingress.query, timeout: 60_000 })
      if (!upstream) throw new Error('this provider opens no sockets')
      await gate.open
      if (gate.shut === model.name)
        throw new GatewayError('upstream_error', { model: model.name }, { tags: ['connect'] })
      // Nobody may say this to the upstream.
      const up = (bytes: Buffer) => (bytes.includes('forbidden') ? undefined : unspoiled(bytes))
      return { reply: { status: 101, headers: {}, body: joined(upstream, { up, down: unspoiled }) } }
    },
})

function unspoiled(bytes: Buffer): Buffer {
  if (bytes.includes('spoiled')) throw new TypeError('it cannot be looked at')
  return bytes
}

/** What was done with the stream of `acme-stream`, for the test that runs this. */
export const streamed: string[] = []

const stream = defineStage({
  name: 'acme-stream',
  summary: 'Answer with bytes, which no socket takes.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: { whole: { type: 'boolean', default: false, description: 'All of them at once.' } },
  } as const,
  needs: ['ingress'],
  provides: ['reply'],
  build:
    ({ whole }) =>
    () => {
      const type = 'text/plain'
      if (whole)
        return { reply: { status: 200, headers: {}, body: { kind: 'bytes', bytes: Buffer.from('hello'), type } } }
      const source = {
        open: () => ({
          pause: () => undefined,
          resume: () => undefined,
          cancel: ({ message }: Error) => void streamed.push(message),
        }),
      }
      return { reply: { status: 200, headers: {}, body: { kind: 'stream', source, type } } }
    },
})

const end = defineStage({
  name: 'acme-end',
  summary: 'Remember how it ended.',
  config: noConfig,
  needs: ['outcome'],
  provides: [],
  build:
    () =>
    ({ outcome }) => {
      ended.push(outcome)
      return {}
    },
})

export default definePlugin({
  name: 'acme',
  summary: 'Conversations over sockets.',
  codecs: [talk],
  providers: [live],
  stages: [pick, open, stream, end],
})
