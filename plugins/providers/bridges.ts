import type { JSONSchema } from 'json-schema-to-ts'
import { defineProvider, GatewayError } from '../../engine/index.ts'
import { addressOf, answerHold, baseUrl, collect, openUpstream, pull } from '../../engine/kit.ts'
import type { Hold, UpstreamSettings } from '../../engine/kit.ts'
import type { Answer, AnyProvider, Provider, Traits } from '../../engine/index.ts'
import { httpProperties, httpSecrets, traitsProperty } from './config.ts'
import { bridgePresets, routerChoices, shownPresets } from './presets.ts'
import type { Preset } from './presets.ts'

/** A type of server that answers decisions in the alternate envelope. */
interface Bridge {
  readonly name: string
  readonly summary: string
  /** Protocols of the server, in order of preference. */
  readonly protocols: readonly string[]
  /** Protocols that only some servers of the type have: those that the preset or `offers` names. */
  readonly optional?: readonly string[]
  /** The request field for images; without it, images are dropped. */
  readonly images?: string
  /** Keys of `endpoint_base_urls`. With `decisions`, the two endpoints have separate addresses. */
  readonly moves: readonly ('chat' | 'decisions' | 'embeddings' | 'mapeval')[]
  /** The first version of the server that has the route. */
  readonly since?: string
}

export const bridgeA = bridge({
  name: 'bridge_a',
  summary: 'Decisions in the alternate envelope only.',
  protocols: ['mapeval'],
  moves: ['mapeval'],
})

export const bridgeB = bridge({
  name: 'bridge_b',
  summary: 'Chat completions, and decisions in the alternate envelope, with a configurable address for each endpoint.',
  protocols: ['chat', 'mapeval'],
  optional: ['embeddings'],
  moves: ['chat', 'decisions', 'embeddings', 'mapeval'],
})

export const bridgeC = bridge({
  name: 'bridge_c',
  summary: 'A local server: chat completions, embeddings, and decisions with images in the alternate envelope.',
  protocols: ['chat', 'mapeval', 'embeddings'],
  images: 'images',
  moves: ['chat', 'embeddings', 'mapeval'],
  since: '0.35',
})

type Presets = ReadonlyMap<string, Preset>

function bridge({ name, summary, protocols: usual, optional = [], images, moves, since }: Bridge): AnyProvider {
  const presets: Presets = bridgePresets.get(name) ?? new Map()
  const presetOf = ({ preset }: Config) => (preset === undefined ? undefined : presets.get(preset))
  const protocolsOf = (config: Config) =>
    config.offers ?? [...usual, ...optional.filter((protocol) => presetOf(config)?.offers?.includes(protocol))]
  return defineProvider({
    name,
    summary,
    config: schemaOf(presets, { usual, optional, moves }),
    secrets: httpSecrets,
    destinations: ['preset'],
    presets: shownPresets(presets),
    offers: (config: Config) =>
      protocolsOf(config).map((protocol) => {
        const choices = presetOf(config)?.choices ?? routerChoices
        if (protocol === 'chat') return { protocol, choices, traits: { ...presetOf(config)?.traits, ...config.traits } }
        return { protocol, choices, ...(protocol === 'mapeval' && images !== undefined ? { traits: { images } } : {}) }
      }),
    open(config: Config, host): Provider {
      const preset = presetOf(config)
      const base_url = config.base_url ?? preset?.base_url
      if (base_url === undefined) throw new Error('base_url is needed where no preset is named')
      const settings = { ...config, base_url }
      const openAt = (key: 'mapeval' | 'decisions', protocols: readonly string[]) => {
        const mapeval = addressOf(settings, key, preset?.mapeval ?? '/mapeval').href
        const endpoints = { ...config.endpoint_base_urls, mapeval }
        return openUpstream({ ...settings, endpoint_base_urls: endpoints }, host, {
          protocols,
          credential: 'bearer',
          models: [{ path: '/models' }],
        })
      }
      const main = openAt('mapeval', protocolsOf(config))
      const apart = moves.includes('decisions') ? openAt('decisions', ['mapeval']) : main
      return {
        ...main,
        async send(call) {
          const answer = await (call.clientProtocol === 'decisions' ? apart : main).send(call)
          if (since === undefined || call.operation !== 'decide') return answer
          return routeOrRefusal(answer, call.publicName ?? call.model, since, answerHold(host, call.scope))
        },
      }
    },
  })
}

interface Kind extends Required<Pick<Bridge, 'optional' | 'moves'>> {
  readonly usual: readonly string[]
}

function schemaOf(presets: Presets, { usual, optional, moves }: Kind): JSONSchema {
  const addresses = httpProperties.endpoint_base_urls
  const moved = moves.map((key) => [key, addresses.properties[key]] as const)
  return {
    type: 'object',
    additionalProperties: false,
    examples: [{ base_url: 'https://api.example.com/v1', api_key: 'secret' }],
    properties: {
      preset: { enum: [...presets.keys()], description: 'A known server: its address and capabilities.' },
      base_url: { ...baseUrl, description: `${baseUrl.description} Required without a preset.` },
      ...httpProperties,
      endpoint_base_urls: { ...addresses, properties: Object.fromEntries(moved) },
      ...(optional.length > 0 ? { offers: offersProperty([...usual, ...optional]) } : {}),
      ...(usual.includes('chat') ? { traits: traitsProperty } : {}),
    },
  }
}

function offersProperty(protocols: readonly string[]) {
  return {
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: { enum: protocols },
    description: 'Protocols of the server, in order of preference. Unset: chat, mapeval, and those of the preset.',
  } as const
}

interface Config extends Omit<UpstreamSettings, 'base_url'> {
  readonly preset?: string | undefined
  readonly base_url?: string | undefined
  readonly offers?: readonly string[] | undefined
  readonly traits?: Traits | undefined
}

/** Most bytes of an error body that are read. */
const limit = 1024 * 1024

/**
 * Returns the answer of a local server. If the server lacks the route, throws `upstream_rejected` with the first
 * version that has it. A 404 about a model has a JSON body that says so, and is returned unchanged.
 */
async function routeOrRefusal(answer: Answer, model: string, since: string, hold: Hold): Promise<Answer> {
  if (answer.status !== 404 && answer.status !== 405) return answer
  const bytes = await collect(answer.body, limit, hold)
  if (answer.status === 404 && !deniesRoute(bytes.toString())) return { ...answer, body: pull(once(bytes)) }
  const message = `The provider of "${model}" has no route for decisions: its server must be of version ${since} or newer.`
  throw new GatewayError('upstream_rejected', { model }, { message, tags: [String(answer.status)] })
}

function deniesRoute(body: string): boolean {
  if (!body.trimStart().startsWith('{')) return true
  return /(unknown|no such|invalid) (route|path|endpoint|url)|(route|path|endpoint|page|url) (was )?not found/i.test(
    body,
  )
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
