import type { AnyAction } from '../spec/action.ts'
import { isDuration } from '../spec/duration.ts'
import { isObject } from '../spec/json.ts'
import type { Plugin } from '../spec/plugin.ts'
import type { AnyRecord } from '../spec/record.ts'
import type { ReportOf } from '../config/uses.ts'

type Problem = { readonly problem: string } | undefined

/** What is wrong with the declaration of an action. */
export function problemOfAction(action: Readonly<Record<string, unknown>>): Problem {
  const { name, route, access, body, writes, timeout, run } = action
  if (typeof name !== 'string' || !/^[a-z][a-z0-9._-]*$/.test(name))
    return { problem: 'an action needs a name of lower-case letters, digits, "-", "_" and "."' }
  const owner = `action "${name}"`
  const [method = '', path = '', ...rest] = String(route).split(' ')
  if (!methods.has(method) || !isPath(path) || rest.length > 0)
    return { problem: `${owner}: "route" must be a method and a path, such as "GET /api/things/:id"` }
  if (!isAccess(access))
    return {
      problem: `${owner} needs "access": { role: "viewer" | "admin" | "any" }, { key: true }, or { public: true, reason }`,
    }
  if (body !== undefined && (!isObject(body) || body['type'] !== 'object'))
    return { problem: `${owner}: "body" must be the schema of an object` }
  if (method === 'GET' && body !== undefined) return { problem: `${owner}: a GET request has no body` }
  if (writes === undefined ? method !== 'GET' : !isWrites(writes))
    return {
      problem: `${owner}: a ${method} must say what it "writes": { record }, "own audit row", or { not: "why" }`,
    }
  if (timeout !== undefined && !isDuration(timeout))
    return { problem: `${owner}: "timeout" must be a duration such as 250ms, 60s or 24h` }
  return typeof run === 'function' ? undefined : { problem: `${owner} has no run function` }
}

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

function isPath(path: string): boolean {
  const [first, ...segments] = path.split('/')
  return first === '' && segments.length > 0 && segments.every((one) => /^(?::[a-z][a-z0-9_]*|[\w.~-]+)$/.test(one))
}

/** Who asks looks at the words alone: a further word, or one with another value, would open an action to others. */
function isAccess(access: unknown): boolean {
  if (!isObject(access)) return false
  const { role, also = [], public: open, reason, key } = access
  switch (Object.keys(access).sort().join(' ')) {
    case 'public reason':
      return open === true && typeof reason === 'string' && reason !== ''
    case 'key':
      return key === true
    case 'role':
    case 'also role':
      return isRole(role) && Array.isArray(also) && also.every((one) => one === 'pending' || one === 'over')
    default:
      return false
  }
}

function isRole(role: unknown): boolean {
  return role === 'viewer' || role === 'admin' || role === 'any'
}

function isWrites(writes: unknown): boolean {
  if (writes === 'own audit row') return true
  if (!isObject(writes) || Object.keys(writes).length !== 1) return false
  const [said] = Object.values(writes)
  return (Object.hasOwn(writes, 'record') || Object.hasOwn(writes, 'not')) && typeof said === 'string' && said !== ''
}

interface Schema {
  readonly description?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** The first field of an answer, or parameter of the query, without a description: clients read it in the reference. */
export function undescribed(owner: string, { answer, query = {} }: AnyAction): Problem {
  const parameters = (query['list'] === true ? query['filters'] : query) as Schema['properties']
  const field = fieldWithout({ properties: parameters ?? {} }, 'query ') ?? fieldWithout(answer ?? {}, '')
  return field === undefined ? undefined : { problem: `${owner}: "${field}" has no description` }
}

function fieldWithout(
  { properties = {}, additionalProperties, items, anyOf = [], oneOf = [] }: Schema,
  at: string,
): string | undefined {
  for (const [name, inner] of Object.entries(properties)) {
    if (typeof inner.description !== 'string') return `${at}${name}`
    const found = fieldWithout(inner, `${at}${name}.`)
    if (found !== undefined) return found
  }
  const others = [items, additionalProperties, ...anyOf, ...oneOf].filter((one) => typeof one === 'object')
  return others.map((one) => fieldWithout(one, at)).find((found) => found !== undefined)
}

/** Finds routes that two actions have. */
export function checkRoutes(actions: ReadonlyMap<string, AnyAction>, report: ReportOf): void {
  const owners = new Map<string, string>()
  for (const action of actions.values()) {
    const [key, owner] = [keyOf(action), owners.get(keyOf(action))]
    if (owner === undefined) owners.set(key, action.name)
    else report(action, 'duplicate', `the route "${action.route}" is that of the action "${owner}" already`)
  }
}

/** The actions that plugins make for types of records, but for those that something declared replaces. */
export function actionsOfRecords({
  plugins,
  action: actions,
  record: records,
}: {
  readonly plugins: readonly Plugin[]
  readonly action: ReadonlyMap<string, AnyAction>
  readonly record: ReadonlyMap<string, AnyRecord>
}): readonly { readonly of: string; readonly value: AnyAction }[] {
  const declared = new Set([...actions.values()].map(keyOf))
  const makers = plugins.flatMap(({ actionsOf }) => actionsOf ?? [])
  return [...records.values()].flatMap((record) =>
    record.route === undefined
      ? []
      : makers
          .flatMap((make) => make(record))
          .filter((action) => !declared.has(keyOf(action)))
          .map((value) => ({ of: record.name, value })),
  )
}

function keyOf({ route }: AnyAction): string {
  const [method = '', path = ''] = route.split(' ')
  return routeKey({ method, path })
}

/** What two routes have in common that nobody can tell apart. */
export function routeKey({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path.replace(/\/:[^/]+/g, '/:')}`
}
