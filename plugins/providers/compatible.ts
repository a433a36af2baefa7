import { defineProvider } from '../../engine/index.ts'
import { baseUrl, openUpstream } from '../../engine/kit.ts'
import type { UpstreamSettings } from '../../engine/kit.ts'
import type { Choice, Offering, Traits } from '../../engine/index.ts'
import { httpProperties, httpSecrets, traitsProperty } from './config.ts'
import { presets, routerChoices, shownPresets } from './presets.ts'
import { sessionHeaders } from './session-headers.ts'

/** Chat completions of the many compatible vendors and local servers, and their other routes of the same family. */
export default defineProvider({
  name: 'compatible',
  summary: 'Chat completions of compatible vendors and local servers, with presets for the well-known ones.',
  config: {
    type: 'object',
    additionalProperties: false,
    examples: [{ base_url: 'https://api.example.com/v1', api_key: 'secret' }],
    properties: {
      preset: {
        enum: [...presets.keys()],
        description: 'A known vendor or local server: its address and capabilities.',
      },
      base_url: { ...baseUrl, description: `${baseUrl.description} Required without a preset.` },
      ...httpProperties,
      offers: {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        items: {
          enum: [
            'chat',
            'responses',
            'embeddings',
            'images',
            'image-edits',
            'speech',
            'transcriptions',
            'translations',
            'realtime',
          ],
        },
        description: 'Protocols of the server, in order of preference. Unset: chat, and those of the preset.',
      },
      traits: traitsProperty,
    },
  },
  secrets: httpSecrets,
  destinations: ['preset'],
  presets: shownPresets(presets),
  offers: offersOf,
  open: (config, host) =>
    openUpstream(settingsOf(config), host, {
      protocols: protocolsOf(config),
      credential: 'bearer',
      perDial: sessionHeaders,
      models: [{ path: '/models' }],
    }),
})

/** Defaults of the family, for what neither the preset nor the configuration sets. */
const usual = { max_tokens_field: 'max_tokens' } as const

interface Config extends Omit<UpstreamSettings, 'base_url'> {
  readonly preset?: string | undefined
  readonly base_url?: string | undefined
  readonly offers?: readonly string[] | undefined
  readonly traits?: Traits | undefined
}

function protocolsOf(config: Config): readonly string[] {
  return config.offers ?? ['chat', ...(presetOf(config)?.offers ?? [])]
}

function offersOf(config: Config): readonly Offering[] {
  const traits = { ...usual, ...presetOf(config)?.traits, ...config.traits }
  const { web_search = false, sampling = 'all' } = traits as Traits
  const choices = choicesOf(config)
  return protocolsOf(config).map((protocol) => {
    if (protocol === 'chat') return { protocol, traits, choices }
    return protocol === 'responses' ? { protocol, traits: { web_search, sampling }, choices } : { protocol, choices }
  })
}

/** A server that no preset describes, or that has another address than the preset's, may be a router. */
function choicesOf(config: Config): readonly Choice[] {
  const { base_url: usual, choices = [] } = presetOf(config) ?? {}
  const isUsual = usual !== undefined && [undefined, usual].includes(config.base_url)
  return isUsual ? choices : [...new Set([...choices, ...routerChoices])]
}

/** The settings with the preset's addresses, which apply only if the base URL is the preset's, too. */
function settingsOf(config: Config): UpstreamSettings {
  if (config.base_url !== undefined) return { ...config, base_url: config.base_url }
  const preset = presetOf(config)
  if (!preset) throw new Error('base_url is needed where no preset is named')
  const moved = { ...preset.endpoint_base_urls, ...config.endpoint_base_urls }
  return { ...config, base_url: preset.base_url, endpoint_base_urls: moved }
}

function presetOf({ preset }: Config) {
  return preset === undefined ? undefined : presets.get(preset)
}
