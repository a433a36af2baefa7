import type { AnyUpstreamCodec } from '../spec/codec.ts'
import { isObject } from '../spec/json.ts'
import type { JsonObject } from '../spec/json.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { Offer } from '../spec/open-provider.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import type { Path } from '../config/diagnostics.ts'
import type { Source } from '../config/source.ts'
import { offersOf, speaksToUpstreams } from '../config/speaking.ts'
import { validator } from '../config/validate.ts'

/**
 * The offers of a provider; empty if its settings are incomplete. Opening the provider reports the mistakes in them.
 */
export function knownOffers(
  type: AnyProvider | undefined,
  config: JsonObject,
  codecs: Registry['codecs'],
): readonly Offer[] | undefined {
  try {
    return type && offersOf(type, config, codecs)
  } catch {
    return undefined
  }
}

/** Finds unknown traits in a provider's settings, and trait values that the codec does not accept. */
export function checkTraits(
  source: Source,
  path: Path,
  config: JsonObject,
  type: AnyProvider,
  codecs: Registry['codecs'],
): readonly Diagnostic[] {
  const given = config['traits']
  if (!isObject(given) || Object.keys(given).length === 0) return []
  const offers = knownOffers(type, config, codecs) ?? []
  const offer = offers.find(({ traits }) => traits !== undefined && Object.keys(given).every((name) => name in traits))
  const codec = codecs.get(offer?.protocol ?? '')
  return codec === undefined || !speaksToUpstreams(codec) || codec.traits === undefined
    ? []
    : validator(schemaOf(codec, codec.traits))(source, [...path, 'traits'], given).diagnostics
}

const schemas = new WeakMap<AnyUpstreamCodec, object>()

function schemaOf(codec: AnyUpstreamCodec, properties: Readonly<Record<string, JsonObject>>): object {
  const known = schemas.get(codec) ?? { type: 'object', additionalProperties: false, properties }
  schemas.set(codec, known)
  return known
}
