import { unescape } from 'node:querystring'
import { compileSchema } from '../../engine/config/validate.ts'
import type { Gateway } from '../../engine/gateway.ts'
import type { Services } from '../../engine/index.ts'
import { parsedObject } from '../../engine/kit.ts'
import type { Route } from '../../engine/pipeline/nodes.ts'
import { configuration } from '../rules/registry.ts'

let shipped: Promise<readonly Route[]> | undefined

/** The route that answers a path: of two, the one with fewer parameters. */
function routeOf(routes: readonly Route[], method: string, path: string): Route | undefined {
  const params = (route: Route) => route.path.split('/:').length
  const fitting = routes.filter((route) => route.method === method && fits(route.path, path))
  return fitting.sort((one, other) => params(one) - params(other))[0]
}

function fits(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.replace(/\/$/, '').split('/')]
  return wanted.length === given.length && wanted.every((part, at) => part.startsWith(':') || part === given[at])
}

/**
 * Throws unless a 2xx answer of the admin API is what its action declares.
 * @param body undefined: it has none
 */
export async function requireDeclared(method: string, path: string, status: number, body: unknown): Promise<void> {
  shipped ??= configuration().then(({ pipelines }) => pipelines.flatMap(({ routes }) => routes))
  const action = routeOf(await shipped, method, path.split('?')[0] ?? '')?.action
  if (action === undefined || status < 200 || status > 299) return
  const { name, answer, stream } = action
  // A stream may be empty.
  if (stream !== undefined && body === undefined) return
  if ((answer === undefined) !== (body === undefined))
    throw new Error(`${name} answers ${body === undefined ? 'no' : 'a'} body, which it does not declare`)
  if (answer === undefined) return
  const valid = compileSchema(answer)
  // Defaults of fields are filled in.
  if (valid(structuredClone(body))) return
  const wrong = (valid.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
  throw new Error(`${name} answers what it does not declare: ${wrong.join('; ')}\n${JSON.stringify(body)}`)
}

/** Throws unless the audit trail has a row of the request with this id, which was answered with 2xx. */
type RequireRow = (id: string) => Promise<void>

/**
 * To be called before a request is sent; undefined: its action writes no record. A change without a difference, and the
 * reset of a section that is not stored, write nothing and need no row: the stored version is the same as before. Of a
 * record that a service holds, every 2xx needs a row.
 */
export async function auditing(engine: Gateway, method: string, path: string): Promise<RequireRow | undefined> {
  const { registry, written, views } = engine.live.current
  const [asked = ''] = path.split('?')
  const route = routeOf(
    written.flatMap(({ routes }) => routes),
    method,
    asked,
  )
  const { name: action, writes } = route?.action ?? {}
  if (route === undefined || typeof writes !== 'object' || !('record' in writes)) return undefined
  const { record } = writes
  const at = route.path.split('/').indexOf(':name')
  const isStored = at !== -1 && registry.records.get(record)?.holds !== 'service'
  const name = unescape(asked.split('/')[at] ?? '')
  const version = async () => {
    const rows = engine.database.query.selectFrom('records').select(['name', 'version']).where('type', '=', record)
    return (await rows.execute()).find((row) => row.name === name)?.version
  }
  // A test may have stopped the database: then only a row tells that nothing is missing.
  const before = isStored ? await version().catch(() => 'unread' as const) : undefined
  const verbs = ['create', 'update', 'delete'].map((verb) => `${record}.${verb}`)
  const actions = record === 'section' ? ['settings.update', 'settings.reset'] : verbs
  return async (id) => {
    const audit = views.of(['audit'])['audit'] as Services['audit']
    const rows = await audit.find({ wanted: { actions } }, { isDescending: true, limit: 100 })
    if (rows.some(({ body }) => parsedObject(body)?.['request_id'] === id)) return
    if (isStored && before === (await version())) return
    throw new Error(`${action} has written a ${record}, and the audit trail has no row of it`)
  }
}
