import { defineStage, noConfig } from '../../engine/index.ts'
import type { Catalog, JsonObject, ModelRecord } from '../../engine/index.ts'
import { holds, isPattern, jsonReply, placesOf, readQuery } from '../../engine/kit.ts'

/** Answers all that a member may know of each model that his keys may use, in the order of the configuration. */
export default defineStage({
  name: 'list-catalog',
  summary: 'Answer the models that the member may use.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build:
    (_config, { catalog }) =>
    ({ ingress, principal: { models: allowed } }) => {
      readQuery(ingress.query)
      const models = catalog.models.filter(
        ({ name }) => !isPattern(name) && (allowed === undefined || holds(allowed, name)),
      )
      return { reply: jsonReply({ data: models.map((model) => shown(model, catalog)) }) }
    },
})

/** A model with the texts that only people read. */
interface DescribedModel extends ModelRecord {
  readonly display_name?: string
  readonly description?: string
}

function shown(model: DescribedModel, catalog: Catalog): JsonObject {
  const { name, display_name, description, aliases, provider, context_length, max_output_tokens, pricing } = model
  const abilities = Object.entries(model).filter(([field]) => field.startsWith('supports_')) as [string, boolean][]
  return {
    name,
    display_name: display_name ?? null,
    description: description ?? null,
    aliases,
    provider,
    virtual: false,
    context_length: context_length ?? null,
    max_output_tokens: max_output_tokens ?? null,
    ...Object.fromEntries(abilities),
    quality_tier: model.quality_tier ?? null,
    pricing: pricing ? ({ ...pricing } as JsonObject) : null,
    available: placesOf(model).some((place) => {
      const open = catalog.provider(place.provider)
      return open !== undefined && open.off === undefined
    }),
  }
}
