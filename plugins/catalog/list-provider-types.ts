import { defineStage, noConfig } from '../../engine/index.ts'
import type { Host, JsonObject, Offering, ProviderType } from '../../engine/index.ts'
import { formOf, jsonReply, readQuery } from '../../engine/kit.ts'

/** Returns every type of provider, with the schema of its settings as a form. */
export default defineStage({
  name: 'provider-types',
  summary: 'Return every type of provider, with the schema of its settings as a form.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  build: (_config, host) => {
    let data: readonly JsonObject[] | undefined
    return ({ ingress }) => {
      readQuery(ingress.query)
      data ??= host.providerTypes.map((type) => typeWire(type, host))
      return { reply: jsonReply({ data: [...data] }) }
    }
  },
})

function typeWire(type: ProviderType, host: Host): JsonObject {
  const { name, summary, config, secrets, presets = [] } = type
  return {
    type: name,
    summary,
    schema: formOf(config, secrets),
    serves: [...operationsOf(type, host)],
    presets: presets.map((preset) => ({ name: preset.name, base_url: preset.base_url, env: preset.env ?? null })),
  }
}

/** The operations that a type offers without settings, and with any of its presets. */
function operationsOf(type: ProviderType, host: Host): ReadonlySet<string> {
  const settings = [{}, ...(type.presets ?? []).map(({ name }) => ({ preset: name }))]
  const offers = settings.flatMap((config) => offersOf(type, config))
  return new Set(
    offers.map((offer) => ('operation' in offer ? offer.operation : host.upstreamCodec(offer.protocol).operation)),
  )
}

function offersOf(type: ProviderType, config: JsonObject): readonly Offering[] {
  try {
    return type.offers(config)
  } catch {
    // What it offers depends on settings that it requires.
    return []
  }
}
