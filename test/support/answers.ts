import { unescape } from 'node:querystring'
import { compileSchema } from '../../engine/config/validate.ts'
import type { Gateway } from '../../engine/gateway.ts'
import type { JsonObject, Services } from '../../engine/index.ts'
import { parsedObject } from '../../engine/kit.ts'
import { codesOf } from '../../engine/openapi/action.ts'
import { rowsOf } from '../../engine/openapi/errors.ts'
import type { ErrorRows } from '../../engine/openapi/errors.ts'
import type { Route } from '../../engine/pipeline/nodes.ts'
import { configuration } from '../rules/registry.ts'
import { tablesOf } from './tables.ts'

let shipped: Promise<{ readonly routes: readonly Route[]; readonly rows: ErrorRows }> | undefined

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
 * Throws unless an answer of the admin API is what its action declares: the body of a 2xx, or the code of an error.
 * @param body undefined: it has none
 */
export async function requireDeclared(method: string, path: string, status: number, body: unknown): Promise<void> {
  shipped ??= configuration().then(({ pipelines, registry }) => {
    return { routes: pipelines.flatMap(({ routes }) => routes), rows: rowsOf(registry) }
  })
  const { routes, rows } = await shipped
  const action = routeOf(routes, method, path.split('?')[0] ?? '')?.action
  if (action === undefined) return
  const { error } = (body ?? {}) as { readonly error?: { readonly code?: unknown } }
  if (status >= 400) {
    if (typeof error?.code === 'string' && !codesOf(action, rows).includes(error.code))
      throw new Error(`${action.name} answers the error ${error.code}, which it does not declare`)
    return
  }
  if (status < 200 || status > 299) return
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

/** The bodies of a request and of its answer. */
interface Exchanged {
  readonly sent?: unknown
  readonly answer?: JsonObject
  /** Absent: it was sent without credentials. */
  readonly token?: string | undefined
}

/** Throws unless the audit trail has a row of the request with this id, which was answered with 2xx. */
type RequireRow = (id: string, exchanged?: Exchanged) => Promise<void>

/** Actions with a row of their own that have done nothing, by what they answer. */
const isIdle: Readonly<Record<string, (exchanged: Exchanged) => boolean>> = {
  'clean-requests': ({ sent, answer }) =>
    (sent as { dry_run?: boolean } | undefined)?.dry_run === true ||
    (answer?.['rows'] === 0 && answer['captures'] === 0),
  'reset-all-breakers': isReset,
  'reset-breakers': isReset,
  'reset-experience': isReset,
  'sync-metadata': isCompared,
  'sync-pricing': isCompared,
  'sign-out': ({ token }) => token === undefined,
  // Its row is that of the configuration, which all processes share.
  'reload-configuration': () => true,
}

/** Nothing was there to forget or to close. */
function isReset({ answer }: Exchanged): boolean {
  return answer?.['reset'] === 0
}

/** A list was compared alone, or differed in nothing that may be taken over. */
function isCompared({ answer = {} }: Exchanged): boolean {
  const { set, change } = answer['counts'] as { readonly set: number; readonly change: number }
  return answer['applied'] === false || set + change === 0
}

/** Tables with what an action changes that has a row of its own, and does nothing where a request differs in nothing. */
const tableOf: Readonly<Record<string, 'members' | 'api_keys' | 'members_ended'>> = {
  'change-api-key': 'api_keys',
  'change-own-api-key': 'api_keys',
  'change-member': 'members',
  'change-own-tracing': 'members',
  'sign-out': 'members_ended',
}

/** What any change of such a table changes; undefined: it cannot be read. */
async function versionsIn({ database }: Gateway, action: string): Promise<string | undefined> {
  const table = tableOf[action]
  if (table === undefined) return undefined
  const queries = tablesOf(database)
  const reading =
    table === 'members_ended'
      ? queries.selectFrom(table).select('session').orderBy('session').execute()
      : queries.selectFrom(table).select(['id', 'version']).orderBy('id').execute()
  // A test may have stopped the database.
  return reading.then(JSON.stringify, () => undefined)
}

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
  const audit = views.of(['audit'])['audit'] as Services['audit']
  const hasRow = async (id: string, actions?: readonly string[]) => {
    const rows = await audit.find({ wanted: actions ? { actions } : {} }, { isDescending: true, limit: 100 })
    return rows.some(({ body }) => parsedObject(body)?.['request_id'] === id)
  }
  if (writes === 'own audit row') {
    const before = await versionsIn(engine, action ?? '')
    return async (id, exchanged = {}) => {
      if (isIdle[action ?? '']?.(exchanged) || (await hasRow(id))) return
      if (before !== undefined && before === (await versionsIn(engine, action ?? ''))) return
      throw new Error(`${action} has appended no row to the audit trail`)
    }
  }
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
    if (await hasRow(id, actions)) return
    if (isStored && before === (await version())) return
    throw new Error(`${action} has written a ${record}, and the audit trail has no row of it`)
  }
}
