import type { Settings } from '../config/settings.ts'
import { isVirtual } from '../spec/catalog.ts'
import type { DeclaredKey } from '../store/keys.ts'

/** The API keys that a configuration declares, their models by the names of the records: that is what is looked up. */
export function declaredKeys({ api_keys: keys, models }: Settings): readonly DeclaredKey[] {
  const names = modelNames(models)
  return keys.map(({ name, key, models: allowed, expires_at: expires }) => ({
    name,
    key,
    ...(allowed === undefined
      ? {}
      : { models: allowed.map((model) => names.get(model) ?? (isVirtual(model) ? model.toLowerCase() : model)) }),
    ...(expires === undefined ? {} : { expiresAt: Date.parse(expires) }),
  }))
}

/** The name of a model's record by each of its names and aliases. */
export function modelNames(models: Settings['models']): ReadonlyMap<string, string> {
  const aliases = models.flatMap(({ name, aliases: others }) => others.map((alias) => [alias, name] as const))
  return new Map([...aliases, ...models.map(({ name }) => [name, name] as const)])
}
