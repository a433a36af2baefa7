import { defineAction } from '../../engine/index.ts'
import type { Host, JsonObject, Offering, ProviderType } from '../../engine/index.ts'
import { formOf, shape } from '../../engine/kit.ts'

/** Answers every type of provider, with the schema of its settings as a form. */
export default defineAction({
  name: 'list-provider-types',
  summary: 'Answer every type of provider, with the schema of its settings as a form.',
  route: 'GET /api/config/providers/types',
  access: { role: 'admin' },
  answer: shape.all(
    shape.object({
      type: shape.text('Name of the type.'),
      summary: shape.text('What it is.'),
      schema: shape.json('JSON Schema of its settings, for a form.'),
      serves: shape.list({ type: 'string' }, 'The operations that it can serve.'),
      presets: shape.list(
        shape.object({
          name: shape.text('Name of the vendor.'),
          base_url: shape.text('Its address.'),
          env: shape.orNull(shape.text('The environment variable that its key is usually in.')),
        }),
        'The vendors that it knows.',
      ),
    }),
  ),
  run: (_input, _services, _scope, host) => ({ data: typesOf(host) }),
})

const known = new WeakMap<Host, readonly JsonObject[]>()

function typesOf(host: Host): readonly JsonObject[] {
  const data = known.get(host) ?? host.providerTypes.map((type) => typeWire(type, host))
  known.set(host, data)
  return data
}

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
