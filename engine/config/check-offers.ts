import type { AnyCodec } from '../spec/codec.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { isPattern } from '../spec/model-pattern.ts'
import type { AnyProvider, Offer } from '../spec/provider.ts'
import type { Diagnostic } from './diagnostics.ts'
import type { Registry } from './registry.ts'
import type { ProviderSettings, SettingsFile } from './settings.ts'
import type { Path, Source } from './source.ts'
import { didYouMean } from './suggest.ts'
import { validator } from './validate.ts'

/** Checks settings against what providers offer, which only their types can say. */
export function checkOffers(
  source: Source,
  { models }: SettingsFile,
  providers: readonly (ProviderSettings | undefined)[],
  { codecs, providers: types }: Registry,
): readonly Diagnostic[] {
  const known = new Map<string, readonly Offer[]>()
  const traits = providers.flatMap((provider, index) => {
    const offers = provider && offersOf(types.get(provider.type), provider)
    if (!provider || !offers) return []
    known.set(provider.name, offers)
    return checkTraits(source, ['providers', index], provider, offers, codecs)
  })
  if (!Array.isArray(models)) return traits
  const protocols = models.flatMap((model: unknown, index) => {
    const provider = isObject(model) ? model['provider'] : undefined
    const offers = typeof provider === 'string' ? known.get(provider) : undefined
    if (!isObject(model) || !offers) return []
    const path = ['models', index]
    return [...checkProtocols(source, path, model, offers), ...checkAssumed(source, path, model, offers, codecs)]
  })
  return [...traits, ...protocols]
}

/** What a provider offers; nothing where its settings do not suffice to say it: what is wrong with them is told when it is opened. */
function offersOf(type: AnyProvider | undefined, { config, off }: ProviderSettings): readonly Offer[] | undefined {
  if (off !== undefined) return undefined
  try {
    return type?.offers(config)
  } catch {
    return undefined
  }
}

/** The traits that a provider's settings name: unknown ones, and values that mean nothing to the codec. */
function checkTraits(
  source: Source,
  path: Path,
  { config }: ProviderSettings,
  offers: readonly Offer[],
  codecs: Registry['codecs'],
): readonly Diagnostic[] {
  const given = config['traits']
  if (!isObject(given) || Object.keys(given).length === 0) return []
  const offer = offers.find(({ traits }) => traits !== undefined && Object.keys(given).every((name) => name in traits))
  const codec = codecs.get(offer?.protocol ?? '')
  return codec?.traits === undefined
    ? []
    : validator(schemaOf(codec, codec.traits))(source, [...path, 'traits'], given).diagnostics
}

const schemas = new WeakMap<AnyCodec, object>()

function schemaOf(codec: AnyCodec, properties: Readonly<Record<string, JsonObject>>): object {
  const known = schemas.get(codec) ?? { type: 'object', additionalProperties: false, properties }
  schemas.set(codec, known)
  return known
}

/**
 * Fields that a model does not name though requests for it have to know them. A name that ends in `*` stands for models
 * that have no such field in common.
 */
function checkAssumed(
  source: Source,
  path: Path,
  model: JsonObject,
  offers: readonly Offer[],
  codecs: Registry['codecs'],
): readonly Diagnostic[] {
  const { name, protocols: wanted } = model
  if (typeof name === 'string' && isPattern(name)) return []
  const spoken = offers.flatMap(({ protocol }) => protocol ?? [])
  return spoken
    .filter((protocol) => !Array.isArray(wanted) || wanted.includes(protocol))
    .flatMap((protocol) => Object.entries(codecs.get(protocol)?.request?.assumes ?? {}))
    .filter(([field]) => model[field] === undefined)
    .map(([field, assumed]) => {
      const finding = source.report([...path, 'name'], 'assumed', `the model names no ${field}: ${assumed}`)
      return { ...finding, warning: true as const }
    })
}

/** Protocols that a model wants spoken to a provider that does not speak them. */
function checkProtocols(
  source: Source,
  path: Path,
  { provider, protocols }: JsonObject,
  offers: readonly Offer[],
): readonly Diagnostic[] {
  const owner = typeof provider === 'string' ? provider : ''
  const spoken = [...new Set(offers.flatMap(({ protocol }) => protocol ?? []))]
  const told = spoken.length > 0 ? `it speaks ${spoken.join(', ')}` : 'it speaks none'
  return (Array.isArray(protocols) ? protocols : []).flatMap((protocol: Json, at) =>
    typeof protocol !== 'string' || spoken.includes(protocol)
      ? []
      : [
          source.report(
            [...path, 'protocols', at],
            'not-offered',
            `the provider "${owner}" does not speak "${protocol}": ${told}${didYouMean(protocol, spoken)}`,
          ),
        ],
  )
}
