import { Refusal } from '../../engine/index.ts'
import type { JsonObject, ModelRecord } from '../../engine/index.ts'
import { defined, didYouMean, fitting, isVirtual } from '../../engine/kit.ts'
import type { ApiKey } from './api-key.ts'
import { bodyOfFields } from './key-body.ts'
import type { DeclaredKey, KeyFields } from './known-key.ts'

/** A key with its models by the names of their records, which are used for lookups. */
export function declaredKey(record: ApiKey, names: ModelNames): DeclaredKey {
  const { name, key, models, budget, rate_limit: rateLimit, mcp_servers: mcpServers, tags, disabled } = record
  const { expires_at: expires, metrics, guards, guards_off: guardsOff } = record
  return defined({
    name,
    key,
    models: models?.map((model) => names.get(model) ?? (isVirtual(model) ? model.toLowerCase() : model)),
    budget: budget ?? undefined,
    rateLimit: rateLimit ?? undefined,
    mcpServers,
    tags,
    expiresAt: expires === undefined ? undefined : Date.parse(expires),
    guards: guards?.length ? guards : undefined,
    guardsOff: guardsOff?.length ? guardsOff : undefined,
    metrics: metrics === true ? true : undefined,
    disabled,
  })
}

/** The part of a key that a file could declare, without its text. */
export function declarable(fields: KeyFields): JsonObject {
  const { owner: _owner, ...body } = bodyOfFields(fields)
  return body
}

/** The record names of models. Throws a `Refusal` for an unknown model. */
export function knownModels(given: readonly string[], names: ModelNames): readonly string[] {
  return given.map((name) => {
    if (isVirtual(name)) return name.toLowerCase()
    const record = names.get(name) ?? (fitting(name, names.keys()) ? name : undefined)
    if (record === undefined) throw new Refusal(`there is no model "${name}"${didYouMean(name, names.keys())}`)
    return record
  })
}

/** The name of a model's record by each of its names and aliases. */
export type ModelNames = ReadonlyMap<string, string>

export function modelNames(models: readonly ModelRecord[]): ModelNames {
  const aliases = models.flatMap(({ name, aliases: others }) => others.map((alias) => [alias, name] as const))
  return new Map([...aliases, ...models.map(({ name }) => [name, name] as const)])
}
