import type { Catalog, ModelRecord, OpenProvider } from '../spec/catalog.ts'
import type { Settings } from '../config/settings.ts'

/** The models of the settings and the providers as they are opened into `providers`. */
export function makeCatalog(settings: Settings, providers: ReadonlyMap<string, OpenProvider>): Catalog {
  const { models, server_config } = settings
  const byName = new Map<string, ModelRecord>()
  const claim = (name: string, model: ModelRecord) => {
    if (!byName.has(name)) byName.set(name, model)
  }
  for (const model of models) claim(model.name, model)
  for (const model of models) for (const alias of model.aliases) claim(alias, model)
  for (const model of models) claim(`${model.provider}/${model.upstream_model}`, model)
  return {
    models,
    find: (name) => byName.get(name),
    provider: (name) => providers.get(name),
    settings: server_config,
  }
}
