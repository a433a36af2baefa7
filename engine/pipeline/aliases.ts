import type { Diagnostic } from '../config/diagnostics.ts'
import type { Source } from '../config/source.ts'
import { validator } from '../config/validate.ts'
import { isObject } from '../spec/json.ts'
import { routeKey } from '../actions/declarations.ts'
import { aliasesFormat } from '../config/format.ts'
import type { Pipeline, Place, Route } from './nodes.ts'

/** Paths that begin with `from` are also served at each of `to`. Both end with `/`. */
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
 * Adds the routes of aliases to pipelines, marked and after the written ones. A route that is already served is not
 * added, and a route written below an alias path gets no alias of its own. Neither does one that has a parameter or `*`
 * right after the beginning: `/*` in place of `/v1/*` would serve every path there is.
 */
export function withAliases(pipelines: readonly Pipeline[], aliases: readonly Aliases[]): Pipeline[] {
  const served = new Set(pipelines.flatMap(({ routes }) => routes.map(routeKey)))
  const further = (route: Route): Route[] =>
    aliases
      .filter((alias) => fits(alias, route.path))
      .flatMap(({ from, to, place }) =>
        to.map((one) => ({ ...route, path: one + route.path.slice(from.length), alias: place })),
      )
      .filter((one) => served.size < served.add(routeKey(one)).size)
  return pipelines.map((pipeline) => ({
    ...pipeline,
    routes: [...pipeline.routes, ...pipeline.routes.flatMap(further)],
  }))
}

/** Finds aliases that no route has. */
export function unusedAliases(pipelines: readonly Pipeline[], aliases: readonly Aliases[]): readonly Diagnostic[] {
  const paths = pipelines.flatMap(({ routes }) => routes.map(({ path }) => path))
  return aliases
    .filter((alias) => !paths.some((path) => fits(alias, path)))
    .map(({ from, place: { source, path } }) => ({
      ...source.report(path, 'unused-alias', `no route begins with "${from}"`, 'key'),
      warning: true as const,
    }))
}

function fits({ from, to }: Aliases, path: string): boolean {
  return (
    path.startsWith(from) &&
    !/^[:*]/.test(path.slice(from.length)) &&
    !to.some((one) => one.startsWith(from) && path.startsWith(one))
  )
}
