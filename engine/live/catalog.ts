import { LRUCache } from 'lru-cache'
import { fitting, isPattern } from '../spec/model-pattern.ts'
import type { Settings } from '../config/settings.ts'
import type { Catalog, ModelRecord, OpenProvider } from '../spec/catalog.ts'

/** Maximum records created for names that match a pattern: names come from clients, and there may be any number. */
const madeRecords = 1_000

/** The models of the settings, and the providers, which are added to `providers` as they are opened. */
export function makeCatalog(settings: Settings, providers: ReadonlyMap<string, OpenProvider>): Catalog {
  const { models, server_config } = settings
  const byName = new Map<string, ModelRecord>()
  const claim = (name: string, model: ModelRecord) => {
    if (!byName.has(name)) byName.set(name, model)
  }
  const single = models.filter(({ name }) => !isPattern(name))
  for (const model of single) claim(model.name, model)
  for (const model of models) for (const alias of model.aliases) claim(alias, model)
  for (const model of single) claim(`${model.provider}/${model.upstream_model}`, model)
  const many = new Map(models.filter(({ name }) => isPattern(name)).map((model) => [model.name, model]))
  const made = new LRUCache<string, ModelRecord>({ max: madeRecords })
  const make = (name: string): ModelRecord | undefined => {
    const { pattern = '', rest = '' } = fitting(name, many.keys()) ?? {}
    const record = many.get(pattern)
    if (record === undefined) return undefined
    const one = { ...record, name, upstream_model: record.upstream_model.replace('*', () => rest) }
    made.set(name, one)
    return one
  }
  return {
    models,
    find: (name) => byName.get(name) ?? (many.size === 0 ? undefined : (made.get(name) ?? make(name))),
    provider: (name) => providers.get(name),
    settings: server_config,
  }
}
