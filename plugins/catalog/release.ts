import type { Json, JsonObject, RecordChange, RecordUse, RecordView } from '../../engine/index.ts'

type Path = RecordUse['path']

/**
 * The change that takes references out of a record or section: items of lists are removed, other fields are reset, and
 * the part that they belong to is switched off.
 */
export function releasing({ type, name, value }: RecordView, uses: readonly RecordUse[]): RecordChange {
  return {
    kind: 'change',
    type,
    name,
    patch: without(
      value,
      uses.map(({ path }) => path),
    ),
  }
}

/** The merge patch that takes values out of an object, each with the item of the first list on its path. */
function without(value: JsonObject, paths: readonly Path[]): JsonObject {
  const byField = Map.groupBy(paths, ([field]) => String(field))
  const entries = [...byField].map(([field, inside]) => [
    field,
    withoutIn(
      value[field],
      inside.map(([, ...rest]) => rest),
    ),
  ])
  return Object.fromEntries(entries) as JsonObject
}

function withoutIn(value: Json | undefined, paths: readonly Path[]): Json {
  if (Array.isArray(value)) {
    const taken = new Set(paths.map(([index]) => index))
    return (value as readonly Json[]).filter((_, index) => !taken.has(index))
  }
  if (paths.some((path) => path.length === 0)) return null
  const part = value as JsonObject
  const patch = without(part, paths)
  // A part that is switched on cannot do without what it names, such as a judge without its model.
  return part['enabled'] === true && Object.values(patch).includes(null) ? { ...patch, enabled: false } : patch
}
