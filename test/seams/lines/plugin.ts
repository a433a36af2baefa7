import { definePlugin, defineProvider, defineUpstreamCodec } from 'sluice'
import { Telling, asText, baseUrl, fold, isObject, openUpstream, parsedObject, upstreamProperties } from 'sluice/kit'

/** A vendor whose streams are lines of JSON, one for each piece of text, and the last one with `done`. */
const codec = defineUpstreamCodec({
  protocol: 'lines',
  operation: 'generate',
  summary: 'Lines of JSON.',
  address: { path: '/talk' },
  framing: 'ndjson',
  request: { print: ({ stream }) => ({ body: { stream }, losses: [] }) },
  reply: { parse: (body) => fold(new Telling().text(isObject(body) ? asText(body['say']) : '')) },
  events: {
    parser: () => {
      const told = new Telling()
      return {
        parse({ data }) {
          const line = parsedObject(data) ?? {}
          return [...told.text(asText(line['say'])), ...(line['done'] === true ? told.finish('end') : [])]
        },
        end: () => [...told.end()],
      }
    },
  },
  error: {
    parse: (status) => ({ status, code: null, type: 'server_error', message: 'It failed.', param: null }),
  },
  failed: ({ data }) =>
    data.startsWith('{"oops"')
      ? { status: 503, code: null, type: 'server_error', message: asText(parsedObject(data)?.['oops']), param: null }
      : undefined,
})

const provider = defineProvider({
  name: 'lines',
  summary: 'A vendor that streams lines.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['base_url'],
    properties: { base_url: baseUrl, ...upstreamProperties },
  } as const,
  offers: () => [{ protocol: codec.protocol }],
  open: (config, host) => openUpstream(config, host, { protocols: [codec.protocol] }),
})

export default definePlugin({ name: 'lines', summary: 'Lines.', codecs: [codec], providers: [provider] })
