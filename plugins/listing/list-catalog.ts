import { defineAction } from '../../engine/index.ts'
import type { Catalog, JsonObject, Mode, ModelRecord } from '../../engine/index.ts'
import { holds, isPattern, placesOf, shape, virtualModels } from '../../engine/kit.ts'

const listed = shape.object(
  {
    name: shape.text('Name of the model.'),
    display_name: shape.orNull(shape.text('Name to show to people.')),
    description: shape.orNull(shape.text('What it is for.')),
    aliases: shape.list({ type: 'string' }, 'Its further names.'),
    virtual: shape.flag('Whether smart routing chooses a model for it.'),
    context_length: shape.orNull(shape.integer('Most tokens of input and output.')),
    max_output_tokens: shape.orNull(shape.integer('Most tokens of output.')),
    supports_images: shape.flag('Whether it reads images.'),
    supports_tools: shape.flag('Whether it calls tools.'),
    supports_mapeval: shape.flag('Whether it answers mapeval.'),
    supports_realtime: shape.flag('Whether it has realtime sessions.'),
    quality_tier: shape.orNull(shape.text('Its quality, for smart routing.')),
    pricing: shape.orNull(shape.map({}, 'Its prices in USD per million tokens.')),
    available: shape.flag('Whether a provider that is on has it.'),
  },
  { provider: shape.text('Name of its provider; routing: it is virtual.') },
)

/**
 * Answers all that a member may know of each model that his keys may use, in the order of the configuration, after the
 * virtual models.
 */
export default defineAction({
  name: 'list-catalog',
  summary: 'Answer the models that the member may use.',
  route: 'GET /api/catalog/models',
  access: { role: 'viewer' },
  answer: shape.all(listed),
  uses: ['smart_routing'],
  run({ principal: { models: allowed } }, { smart_routing: routing }, _scope, { catalog }) {
    const isAllowed = ({ name }: ModelRecord) => allowed === undefined || holds(allowed, name)
    const models = catalog.models.filter((model) => !isPattern(model.name) && isAllowed(model))
    const eligible = routing.eligible(catalog).filter(isAllowed)
    const virtual = routing.enabled ? virtualModels.map((mode) => shownVirtual(mode, eligible, catalog)) : []
    return { data: [...virtual, ...models.map((model) => shown(model, catalog))] }
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
    available: isAvailable(model, catalog),
  }
}

/** A virtual model can do what any of the models can that it chooses from. */
function shownVirtual(name: Mode, eligible: readonly ModelRecord[], catalog: Catalog): JsonObject {
  return {
    name,
    display_name: null,
    description: 'Smart routing chooses a model for each request.',
    aliases: [],
    provider: 'routing',
    virtual: true,
    context_length: null,
    max_output_tokens: null,
    supports_images: eligible.some((model) => model.supports_images),
    supports_tools: eligible.some((model) => model.supports_tools),
    supports_mapeval: false,
    supports_realtime: false,
    quality_tier: null,
    pricing: null,
    available: eligible.some((model) => isAvailable(model, catalog)),
  }
}

function isAvailable(model: ModelRecord, catalog: Catalog): boolean {
  return placesOf(model).some(({ provider }) => {
    const open = catalog.provider(provider)
    return open !== undefined && open.off === undefined
  })
}
