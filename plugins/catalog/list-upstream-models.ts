import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { Catalog } from '../../engine/index.ts'
import { jsonReply, placesOf, timeText } from '../../engine/kit.ts'
import { providerIn } from './provider-in.ts'
import { upstreamList } from './upstream-list.ts'

/** Returns the models that a provider has at its upstream, by the path's `:name`, with the names they have here. */
export default defineStage({
  name: 'upstream-models',
  summary: 'Return the models that a provider has at its upstream.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['price_lists'],
  build:
    (_config, { records, catalog }, { price_lists: prices }) =>
    async ({ ingress }, scope) => {
      const { name, problem } = providerIn(ingress, records)
      const open = catalog.provider(name)
      const refuse = (reason: string) =>
        new GatewayError('invalid_reference', { param: 'name', reason }, { param: 'name' })
      if (open === undefined || problem !== undefined) throw refuse(`cannot be asked: ${problem ?? 'it is off'}`)
      if (open.provider.models === undefined) throw refuse('is a provider whose type has no list of models')
      const ids = await upstreamList(open, scope)
      const known = await prices.known(records.find('provider', name)?.value, ids)
      const names = configuredAs(name, catalog)
      const data = ids.map((id) => ({ id, name: names.get(id) ?? null, known: known.get(id) ?? {} }))
      return { reply: jsonReply({ data, fetched_at: timeText(Date.now()) }) }
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
