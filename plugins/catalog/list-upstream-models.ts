import { GatewayError, defineAction } from '../../engine/index.ts'
import type { Catalog } from '../../engine/index.ts'
import { placesOf, shape, timeText } from '../../engine/kit.ts'
import { providerIn } from './provider-in.ts'
import { upstreamList } from './upstream-list.ts'

/** Answers the models that a provider has at its upstream, with the names they have here. */
export default defineAction({
  name: 'list-upstream-models',
  summary: 'Answer the models that a provider has at its upstream.',
  route: 'GET /api/config/providers/:name/upstream-models',
  access: { role: 'admin' },
  answer: shape.object({
    data: shape.list(
      shape.object({
        id: shape.text('Its name at the provider.'),
        name: shape.orNull(shape.text('Name of the record with a place there; null: there is none.')),
        known: shape.object(
          {},
          {
            context_length: shape.integer('Most tokens of input and output.'),
            max_output_tokens: shape.integer('Most tokens of output.'),
            pricing: shape.map({ type: 'number' }, 'Its prices in USD per million tokens.'),
          },
          'What the price list says of it.',
        ),
      }),
      'The models.',
    ),
    fetched_at: shape.time('When the provider was asked.'),
  }),
  errors: [
    'invalid_reference',
    'stale_version',
    'upstream_error',
    'upstream_invalid_response',
    'upstream_timeout',
    'upstream_unreachable',
  ],
  uses: ['price_lists'],
  async run(input, { price_lists: prices }, scope, { records, catalog }) {
    const { name, problem } = providerIn(input, records)
    const open = catalog.provider(name)
    const refuse = (reason: string) =>
      new GatewayError('invalid_reference', { param: 'name', reason }, { param: 'name' })
    if (open === undefined || problem !== undefined) throw refuse(`cannot be asked: ${problem ?? 'it is off'}`)
    if (open.provider.models === undefined) throw refuse('is a provider whose type has no list of models')
    const ids = await upstreamList(open, scope)
    const known = await prices.known(records.find('provider', name)?.value, ids)
    const names = configuredAs(name, catalog)
    const data = ids.map((id) => ({ id, name: names.get(id) ?? null, known: known.get(id) ?? {} }))
    return { data, fetched_at: timeText(Date.now()) }
  },
})

/** The names of models by what a provider calls them. */
function configuredAs(provider: string, { models }: Catalog): ReadonlyMap<string, string> {
  const own = models.flatMap((model) =>
    placesOf(model)
      .filter((place) => place.provider === provider)
      .map((place) => [place.upstream_model, model.name] as const),
  )
  return new Map(own.reverse())
}
