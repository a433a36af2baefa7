import type { Diagnostic } from '../config/diagnostics.ts'
import type { Source } from '../config/source.ts'
import { validator } from '../config/validate.ts'
import { isObject } from '../spec/json.ts'
import { aliasesFormat } from './format.ts'
import type { Pipeline, Place, Route } from './nodes.ts'

/** Paths that begin with `from` are served at each of `to`, too. Both end with `/`. */
export interface Aliases {
  readonly from: string
  readonly to: readonly string[]
  readonly place: Place
}

/** Reads the `aliases` of a file. */
export function parseAliases(source: Source, diagnostics: Diagnostic[]): Aliases[] {
  const given = isObject(source.value) ? source.value['aliases'] : undefined
  if (given === undefined) return []
  const found = validator(aliasesFormat)(source, ['aliases'], given)
  diagnostics.push(...found.diagnostics)
  if (found.diagnostics.length > 0) return []
  return Object.entries(found.value as Record<string, readonly string[]>).map(([from, to]) => ({
    from,
    to,
    place: { source, path: ['aliases', from] },
  }))
}

/**
 * Pipelines with the routes that aliases add to those that are written: marked, and behind them. What is served already is
 * left to whoever wrote it, and so is what is written at an alias.
 */
export function withAliases(pipelines: readonly Pipeline[], aliases: readonly Aliases[]): Pipeline[] {
  const key = ({ method, path }: Route) => `${method} ${path.replace(/:[^/]+/g, ':')}`
  const served = new Set(pipelines.flatMap(({ routes }) => routes.map(key)))
  const further = ({ method, path }: Route): Route[] =>
    aliases
      .filter(
        ({ from, to }) => path.startsWith(from) && !to.some((one) => one.startsWith(from) && path.startsWith(one)),
      )
      .flatMap(({ from, to, place }) =>
        to.map((one) => ({ method, path: one + path.slice(from.length), alias: place })),
      )
      .filter((route) => served.size < served.add(key(route)).size)
  return pipelines.map((pipeline) => ({
    ...pipeline,
    routes: [...pipeline.routes, ...pipeline.routes.flatMap(further)],
  }))
}
