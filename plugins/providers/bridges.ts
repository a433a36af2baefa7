import type { JSONSchema } from 'json-schema-to-ts'
import { defineProvider } from '../../engine/index.ts'
import { addressOf, answerHold, baseUrl, openUpstream } from '../../engine/kit.ts'
import type { UpstreamSettings } from '../../engine/kit.ts'
import type { AnyProvider, Provider, Traits } from '../../engine/index.ts'
import { httpProperties, httpSecrets, traitsProperty } from './config.ts'
import { routeOrRefusal } from './missing-route.ts'
import { bridgePresets, shownPresets } from './presets.ts'
import type { Preset } from './presets.ts'

/** A type of server that answers decisions in the alternate envelope. */
interface Bridge {
  readonly name: string
  readonly summary: string
  /** Whether the server also has chat completions. */
  readonly chat: boolean
  /** The request field for images; without it, images are dropped. */
  readonly images?: string
  /** Keys of `endpoint_base_urls`. With `decisions`, the two endpoints have separate addresses. */
  readonly moves: readonly ('chat' | 'decisions' | 'mapeval')[]
  /** The first version of the server that has the route. */
  readonly since?: string
}

export const bridgeA = bridge({
  name: 'bridge_a',
  summary: 'Decisions in the alternate envelope only.',
  chat: false,
  moves: ['mapeval'],
})

export const bridgeB = bridge({
  name: 'bridge_b',
  summary: 'Chat completions, and decisions in the alternate envelope, with a configurable address for each endpoint.',
  chat: true,
  moves: ['chat', 'decisions', 'mapeval'],
})

export const bridgeC = bridge({
  name: 'bridge_c',
  summary: 'A local server: chat completions, and decisions with images in the alternate envelope.',
  chat: true,
  images: 'images',
  moves: ['chat', 'mapeval'],
  since: '0.35',
})

type Presets = ReadonlyMap<string, Preset>

function bridge({ name, summary, chat, images, moves, since }: Bridge): AnyProvider {
  const presets: Presets = bridgePresets.get(name) ?? new Map()
  const protocols = chat ? ['chat', 'mapeval'] : ['mapeval']
  const presetOf = ({ preset }: Config) => (preset === undefined ? undefined : presets.get(preset))
  return defineProvider({
    name,
    summary,
    config: schemaOf(presets, chat, moves),
    secrets: httpSecrets,
    presets: shownPresets(presets),
    offers: (config: Config) =>
      protocols.map((protocol) => {
        if (protocol === 'chat') return { protocol, traits: { ...presetOf(config)?.traits, ...config.traits } }
        return { protocol, ...(images === undefined ? {} : { traits: { images } }) }
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
          models: '/models',
        })
      }
      const main = openAt('mapeval', protocols)
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

function schemaOf(presets: Presets, chat: boolean, moves: Bridge['moves']): JSONSchema {
  const addresses = httpProperties.endpoint_base_urls
  const moved = moves.map((key) => [key, addresses.properties[key]] as const)
  return {
    type: 'object',
    additionalProperties: false,
    properties: {
      preset: { enum: [...presets.keys()], description: 'A known server: its address and capabilities.' },
      base_url: { ...baseUrl, description: `${baseUrl.description} Required without a preset.` },
      ...httpProperties,
      endpoint_base_urls: { ...addresses, properties: Object.fromEntries(moved) },
      ...(chat ? { traits: traitsProperty } : {}),
    },
  }
}

interface Config extends Omit<UpstreamSettings, 'base_url'> {
  readonly preset?: string | undefined
  readonly base_url?: string | undefined
  readonly traits?: Traits | undefined
}
