import type { Diagnostic } from '../config/diagnostics.ts'
import { inputReader } from '../http/input.ts'
import { queryReader } from '../http/list-query.ts'
import { Answered, emptyReply, jsonReply, requesterOf } from '../http/record-reply.ts'
import { isOfRole } from '../spec/access.ts'
import type { ActionAnswer, ActionAsked, AnyAction } from '../spec/action.ts'
import { noConfig } from '../spec/config.ts'
import { GatewayError } from '../spec/error.ts'
import type { Json } from '../spec/json.ts'
import type { Principal } from '../spec/principal.ts'
import type { Scope } from '../spec/scope.ts'
import type { Ingress, Reply, Slots } from '../spec/slots.ts'
import type { Source } from '../spec/source.ts'
import type { AnyStage } from '../spec/stage.ts'
import { reportAt, stagesOf, within } from './nodes.ts'
import type { ActNode, Pipeline, Route } from './nodes.ts'

type Actions = ReadonlyMap<string, AnyAction>

/** The step `act` as a stage: of one action, or of the action of each route. */
export function actStage(actions: readonly AnyAction[], summary = 'Run the action of the route.'): AnyStage {
  const [only, ...others] = actions
  const one = others.length === 0 ? only : undefined
  return {
    kind: 'stage',
    name: 'act',
    summary: one?.summary ?? summary,
    config: noConfig,
    needs: ['ingress'],
    reads: ['principal'],
    provides: ['reply'],
    uses: [...new Set(actions.flatMap(({ uses = [] }) => uses))],
    readsBody: one?.body !== undefined,
    build(_config, host, services = {}) {
      if (one === undefined) throw new Error('an action runs by itself')
      const queryOf = queryReader(one.query)
      const reader = one.body === undefined ? undefined : inputReader(one.body, one.bodyLimit)
      return async ({ ingress, principal }: Partial<Slots>, scope: Scope) => {
        requireAccess(one, principal)
        const asked = askedOf(ingress as Ingress, principal, scope)
        await one.before?.(asked, services)
        const query = queryOf(asked.ingress.query)
        const body = reader && { body: await reader.read(asked.ingress, principal !== undefined) }
        return { reply: replyOf(one, await one.run({ ...asked, query, ...body }, services, scope, host)) }
      }
    },
  }
}

function askedOf(ingress: Ingress, principal: Principal | undefined, scope: Scope): ActionAsked {
  const by = requesterOf(scope, { ingress, ...(principal && { principal }) })
  return { ingress, params: ingress.params, principal, by }
}

/** Whoever stands before `act` may have let somebody in whom the action does not. */
function requireAccess({ access }: AnyAction, principal: Principal | undefined): void {
  if ('public' in access) return
  if (principal === undefined) throw new GatewayError('key' in access ? 'invalid_api_key' : 'invalid_token')
  const isRight =
    'key' in access ? principal.kind === 'key' : principal.kind === 'member' && isOfRole(principal, access.role)
  if (!isRight) throw new GatewayError('forbidden')
}

/** A comment of server-sent events, so that nobody closes a silent connection. */
const comment = Buffer.from(':\n\n')

function replyOf({ stream, status }: AnyAction, given: ActionAnswer): Reply {
  const { body, options } = given instanceof Answered ? given : new Answered(given ?? undefined, {})
  const reply = jsonReply((body ?? null) as Json, { ...(status === undefined ? {} : { status }), ...options })
  if (stream !== undefined) {
    const source = body as Source
    if (stream === 'lines') return { ...reply, body: { kind: 'stream', source, type: 'application/x-ndjson' } }
    const events = {
      kind: 'stream',
      source,
      type: 'text/event-stream',
      lasting: true,
      keepalive: () => comment,
    } as const
    return { ...reply, body: events }
  }
  return body === undefined ? { ...emptyReply, headers: reply.headers } : reply
}

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
  const found = placed.map((one): Pipeline => {
    const acts = stagesOf(one.stages).filter((node): node is ActNode => 'action' in node)
    const [act] = acts
    if (act === undefined) return one
    if (act.action === undefined && one.routes.length === 0 && one.actionsAt === undefined)
      diagnostics.push(
        reportAt(act.place, 'act', `"act" needs the name of an action here: "${one.name}" has no routes`),
      )
    const routes = one.routes.map((route, index): Route => {
      const action = acts.length > 1 ? undefined : (act.action ?? byRoute.get(`${route.method} ${route.path}`))
      const wrong =
        action === undefined && acts.some((node) => node.action === undefined)
          ? `no action has the route "${route.method} ${route.path}"; name one: "act: <action>"`
          : missingParams(acts, route)
      if (wrong !== undefined) diagnostics.push(reportAt(within(one.place, 'routes', index), 'act', wrong))
      return action === undefined ? route : { ...route, action }
    })
    return { ...one, routes }
  })
  return { pipelines: found, diagnostics }
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

/** What two routes have in common that nobody can tell apart. */
export function routeKey({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path.replace(/\/:[^/]+/g, '/:')}`
}
