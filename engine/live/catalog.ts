import { LRUCache } from 'lru-cache'
import { fitting, isPattern } from '../spec/model-pattern.ts'
import type { Settings } from '../config/settings.ts'
import { placesOf } from '../spec/catalog.ts'
import type { Catalog, Deployment, ModelRecord, OpenProvider } from '../spec/catalog.ts'

/** Maximum records created for names that match a pattern: names come from clients, and there may be any number. */
const madeRecords = 1_000

/** The models of the settings, and the providers, which are added to `providers` as they are opened. */
export function makeCatalog(settings: Settings, providers: ReadonlyMap<string, OpenProvider>): Catalog {
  const { server_config, complete = (model: ModelRecord) => model } = settings
  const [models, off] = [settings.models.filter(isOn), settings.models.filter((model) => !isOn(model))]
  const byName = new Map<string, ModelRecord>()
  const claim = (name: string, model: ModelRecord) => {
    if (!byName.has(name)) byName.set(name, model)
  }
  const single = models.filter(({ name }) => !isPattern(name))
  for (const model of single) claim(model.name, model)
  for (const model of models) for (const alias of model.aliases) claim(alias, model)
  for (const model of single)
    for (const { provider, upstream_model } of placesOf(model)) claim(`${provider}/${upstream_model}`, model)
  const many = new Map(models.filter(({ name }) => isPattern(name)).map((model) => [model.name, model]))
  const hidden = new Set(off.flatMap(({ name, aliases }) => [name, ...aliases]))
  const made = new LRUCache<string, ModelRecord>({ max: madeRecords })
  const make = (name: string): ModelRecord | undefined => {
    // The name of a model that is off is not served by a pattern.
    if (hidden.has(name)) return undefined
    const { pattern = '', rest = '' } = fitting(name, many.keys()) ?? {}
    const record = many.get(pattern)
    if (record === undefined) return undefined
    const filled = <P extends Pick<Deployment, 'upstream_model'>>(place: P): P => ({
      ...place,
      upstream_model: place.upstream_model.replace('*', () => rest),
    })
    const { deployments } = record
    const one = complete({
      ...filled(record),
      name,
      pattern,
      ...(deployments ? { deployments: deployments.map(filled) } : {}),
    })
    made.set(name, one)
    return one
  }
  return {
    models,
    find: (name) => byName.get(name) ?? (many.size === 0 ? undefined : (made.get(name) ?? make(name))),
    provider: (name) => providers.get(name),
    ...(settings.catalog?.source === undefined ? {} : { source: settings.catalog.source }),
    settings: server_config,
  }
}

function isOn({ enabled = true }: ModelRecord): boolean {
  return enabled
}
