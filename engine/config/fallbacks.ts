import type { Diagnostic } from './diagnostics.ts'
import type { SettingsFile } from './settings.ts'
import type { Path, Source } from './source.ts'

/** A model, as far as its fallbacks go. Of a list that may be malformed. */
type Models = SettingsFile['models']

/**
 * Fallbacks that cannot help: the model itself, and the same model twice. Models that fall back to each other in a circle are a
 * warning: only the fallbacks of the model that was asked for are tried, never those of a fallback.
 */
export function checkFallbacks(source: Source, models: Models): Diagnostic[] {
  const all = (Array.isArray(models) ? models : []).filter((model) => typeof model?.name === 'string')
  const byName = new Map(
    all.flatMap((model) => [model.name, ...listOf(model.aliases)].map((name) => [name, model] as const)),
  )
  return all.flatMap((model) => {
    const path: Path = ['models', models.indexOf(model), 'fallbacks']
    const seen = new Set([model])
    return listOf(model.fallbacks).flatMap((name, at): Diagnostic[] => {
      const fallback = byName.get(name)
      if (!fallback) return []
      if (seen.has(fallback)) {
        const why = fallback === model ? 'is the model itself' : 'stands there already'
        return [source.report([...path, at], 'fallback', `the fallback "${name}" ${why}`)]
      }
      seen.add(fallback)
      const circle = wayBack(fallback, model, byName)
      if (!circle) return []
      const message = `fallbacks go in a circle: ${[model.name, ...circle].join(' -> ')}; those of a fallback are never tried`
      return [{ ...source.report([...path, at], 'fallback', message), warning: true }]
    })
  })
}

/** The names on the shortest way from a model to another by fallbacks, both ends among them. */
function wayBack(
  from: Models[number],
  to: Models[number],
  byName: ReadonlyMap<string, Models[number]>,
): string[] | undefined {
  const ways = new Map([[from, [from.name]]])
  for (const [model, way] of ways) {
    if (model === to) return way
    for (const name of listOf(model.fallbacks)) {
      const next = byName.get(name)
      if (next && !ways.has(next)) ways.set(next, [...way, next.name])
    }
  }
  return undefined
}

function listOf(names: unknown): readonly string[] {
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}
