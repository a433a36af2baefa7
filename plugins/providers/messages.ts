import { defineProvider } from '../../engine/index.ts'
import { baseUrl, openUpstream, passedOn } from '../../engine/kit.ts'
import type { ClientHeaders } from '../../engine/kit.ts'
import type { Call, JsonObject, Offering } from '../../engine/index.ts'
import { httpProperties, httpSecrets, needsKey, traitsProperty } from './config.ts'
import { claudeSampling } from './sampling.ts'

const protocols = ['messages', 'count-tokens']
/** The version of translated requests. A client of the same protocol sends its own. */
const version = '2023-06-01'

/** An upstream of the messages protocol (platform.claude.com/docs/en/api/messages). */
export default defineProvider({
  name: 'messages',
  summary: 'The messages protocol, with its own token counting.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['base_url'],
    anyOf: needsKey,
    properties: {
      base_url: baseUrl,
      ...httpProperties,
      auth: {
        enum: ['x-api-key', 'bearer'],
        default: 'x-api-key',
        description: 'How to send the key: in the header x-api-key, or as a bearer token.',
      },
      betas: {
        type: 'array',
        items: {
          type: 'string',
          pattern: '^[\\x21-\\x2b\\x2d-\\x7e]+$',
          patternErrorMessage: 'must be printable ASCII characters without spaces and commas',
        },
        description: 'Features of anthropic-beta that may be forwarded. Unset: all that a messages client requests.',
      },
      traits: { ...traitsProperty, description: 'Capabilities of its models: traits of the codec messages.' },
    },
  },
  secrets: httpSecrets,
  destinations: [],
  offers: ({ betas, traits }): readonly Offering[] =>
    protocols.map((protocol) => ({
      protocol,
      traits: { sampling: claudeSampling, ...(betas ? { betas } : {}), ...traits },
    })),
  open(config, host) {
    const allowed = config.betas && new Set(config.betas)
    const pinned = Object.keys(config.headers ?? {}).some((name) => name.toLowerCase() === 'anthropic-version')
    const perCall = ({ clientHeaders }: Call) => [
      ...(pinned ? [] : versionOf(clientHeaders)),
      ...betasOf(clientHeaders, allowed),
    ]
    const credential = config.auth === 'bearer' ? 'bearer' : (key: string) => ({ 'x-api-key': key })
    return openUpstream(config, host, {
      protocols,
      credential,
      perCall,
      models: [{ path: '/models?limit=1000', next }],
      perList: () => Promise.resolve(pinned ? [] : versionOf(undefined)),
    })
  },
})

/** The next page is the one after the last model of this one. */
function next({ has_more, last_id }: JsonObject) {
  return has_more === true && typeof last_id === 'string' ? { after_id: last_id } : undefined
}

function versionOf(given: ClientHeaders | undefined): string[] {
  const own = passedOn(given, ['anthropic-version'])
  return own.length > 0 ? own : ['anthropic-version', version]
}

/** The features that a client requests, without those that the configuration does not allow. */
function betasOf(given: ClientHeaders | undefined, allowed: ReadonlySet<string> | undefined): string[] {
  const asked = passedOn(given, ['anthropic-beta'])
  if (!allowed || asked.length === 0) return asked
  const kept = String(asked[1])
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => allowed.has(beta))
  return kept.length > 0 ? ['anthropic-beta', kept.join(',')] : []
}
