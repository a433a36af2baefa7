import { routeKey } from '../actions/declarations.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { AnyAction } from '../spec/action.ts'
import type { Ingress } from '../spec/slots.ts'
import { reportAt, stagesOf, within } from './nodes.ts'
import type { ActNode, Pipeline, Route, StepNode } from './nodes.ts'

type Actions = ReadonlyMap<string, AnyAction>

/** Finds the action of a request by the route that it was found by; undefined: no route has one. */
export function actionAt(routes: readonly Route[]): ((ingress: Ingress) => AnyAction | undefined) | undefined {
  if (!routes.some(({ action }) => action)) return undefined
  const known = new Map(routes.map(({ method, path, action }) => [`${method} ${path}`, action]))
  return ({ method, path }) => known.get(`${method === 'HEAD' ? 'GET' : method} ${path}`)
}

/**
 * Gives `routes: [actions]` the routes of all actions that no other pipeline serves, and the routes of pipelines with
 * `act` their actions. Finds such routes that have none.
 */
export function withActions(
  pipelines: readonly Pipeline[],
  actions: Actions,
): { readonly pipelines: readonly Pipeline[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const taken = new Set(pipelines.flatMap(({ routes }) => routes.map(routeKey)))
  const left = [...actions.values()].map(routeOf).filter((route) => !taken.has(routeKey(route)))
  const [first, ...further] = pipelines.filter(({ actionsAt }) => actionsAt !== undefined)
  for (const { place, actionsAt = 0 } of further)
    diagnostics.push(
      reportAt(
        within(place, 'routes', actionsAt),
        'duplicate',
        `the pipeline "${first?.name}" serves the actions already`,
      ),
    )
  const placed = pipelines.map((one) => (one === first ? { ...one, routes: [...one.routes, ...left] } : one))
  const byRoute = new Map([...actions.values()].map((action) => [action.route, action]))
  const byName = new Map(placed.map((one) => [one.name, one]))
  const found = placed.map((one): Pipeline => {
    const [acts, allActs] = [actsOf(one.stages), actsOf(one.stages, byName)]
    const [act] = acts
    if (act !== undefined && act.action === undefined && one.routes.length === 0 && one.actionsAt === undefined)
      diagnostics.push(
        reportAt(act.place, 'act', `"act" needs the name of an action here: "${one.name}" has no routes`),
      )
    const routes = one.routes.map((route, index): Route => {
      const ofRoute = byRoute.get(`${route.method} ${route.path}`)
      const action = act === undefined || acts.length > 1 ? undefined : (act.action ?? ofRoute)
      const wrong =
        action === undefined && acts.some((node) => node.action === undefined)
          ? `no action has the route "${route.method} ${route.path}"; name one: "act: <action>"`
          : missingParams(allActs, route)
      if (wrong !== undefined) diagnostics.push(reportAt(within(one.place, 'routes', index), 'act', wrong))
      return action === undefined ? route : { ...route, action }
    })
    return { ...one, routes }
  })
  return { pipelines: found, diagnostics }
}

function actsOf(steps: readonly StepNode[], byName?: ReadonlyMap<string, Pipeline>): ActNode[] {
  return stagesOf(steps, byName).filter((node): node is ActNode => 'action' in node)
}

/** What a route lacks of the parameters of the actions that it runs. */
function missingParams(acts: readonly ActNode[], { method, path }: Route): string | undefined {
  const paramsIn = (text: string): readonly string[] => text.match(/:\w+/g) ?? []
  const given = paramsIn(path)
  for (const { action } of acts) {
    const missing = paramsIn(action?.route ?? '').find((param) => !given.includes(param))
    if (missing !== undefined)
      return `"${action?.name}" needs "${missing}" in the route, and "${method} ${path}" has none`
  }
  return undefined
}

function routeOf(action: AnyAction): Route {
  const [method = '', path = ''] = action.route.split(' ')
  return { method, path, action }
}
