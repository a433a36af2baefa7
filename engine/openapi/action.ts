import { parametersOf } from '../actions/list-query.ts'
import { isAdministrative } from '../http/administrative.ts'
import { accessOf } from '../spec/access.ts'
import type { AnyAction } from '../spec/action.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { errorResponses } from './errors.ts'
import type { ErrorRows } from './errors.ts'
import { exampleOf } from './example-of.ts'
import type { Schemas } from './schemas.ts'

/** The path of a route as OpenAPI writes it: `/api/models/{name}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/(?<=\/):(\w+)/g, '{$1}').replace('*', '{model}')
}

/** The operation of an action. */
export function actionOperation(
  action: AnyAction,
  path: string,
  schemas: Schemas,
  rows: ErrorRows,
): JsonObject & { readonly operationId: string } {
  const { name, summary, route, access, body } = action
  return {
    operationId: name,
    summary,
    description: `${forWhom[accessOf(action)]}${writesOf(action)}`,
    'x-access': access,
    security: 'public' in access ? [] : [{ ['key' in access ? 'key' : 'session']: [] }],
    parameters: [...pathParameters(path), ...queryParameters(action), ...(hasVersions(action) ? [ifMatch] : [])],
    ...(body === undefined ? {} : { requestBody: bodyOf(body, schemas, route.startsWith('PATCH ')) }),
    responses: { ...answerOf(action, path, schemas), ...errorResponses(codesOf(action, rows), rows) },
  }
}

const forWhom: Readonly<Record<ReturnType<typeof accessOf>, string>> = {
  admin: 'For admins.',
  viewer: 'For viewers and admins.',
  any: 'For whoever is signed in.',
  key: 'For holders of an API key.',
  public: 'For everybody.',
}

function writesOf({ writes }: AnyAction): string {
  if (writes === undefined) return ''
  if (typeof writes === 'string') return ' The audit trail gets a row.'
  return 'record' in writes ? ' The audit trail gets a row.' : ` The audit trail gets no row: ${writes.not}.`
}

/** The parameters in a path. */
export function pathParameters(path: string): JsonObject[] {
  return [...path.matchAll(/\{(\w{1,64})\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: `${name === 'id' ? 'Its id' : `The ${name.replaceAll('_', ' ')}`}, in the path.`,
    schema: { type: 'string', examples: [`my-${name}`] },
  }))
}

function queryParameters({ query }: AnyAction): JsonObject[] {
  const all = parametersOf(query)
  return Object.entries(all).map(([name, { description, ...schema }]) => {
    // What can be left out may be repeated: any of the values, or none of them.
    const isRepeated = name.startsWith('not_') || Object.hasOwn(all, `not_${name}`)
    const words: JsonObject = schema.enum === undefined ? { ...schema } : { type: 'string', ...schema }
    return { name, in: 'query', description, schema: isRepeated ? { type: 'array', items: words } : words }
  })
}

const ifMatch: JsonObject = {
  name: 'If-Match',
  in: 'header',
  description: 'The versions of which the change was made, each in quotes; another one is refused. Absent: any.',
  schema: { type: 'string', examples: ['"3"'] },
}

/** Whether a request may name the version that it changes. */
function hasVersions({ route, writes, errors = [] }: AnyAction): boolean {
  if (errors.includes('stale_version')) return true
  return typeof writes === 'object' && 'record' in writes && /^(?:PATCH|DELETE) /.test(route)
}

function bodyOf(body: object, schemas: Schemas, isPatch: boolean): JsonObject {
  const schema = schemas.of(body, isPatch)
  const example = exampleOf(schemas.open(schema))
  const required = ((body as JsonObject)['required'] as readonly Json[] | undefined) ?? []
  return { required: required.length > 0, content: { 'application/json': { schema, example } } }
}

function answerOf(action: AnyAction, path: string, schemas: Schemas): JsonObject {
  const { answer, status, stream } = action
  if (answer === undefined) return { [status ?? 204]: { description: 'It is done.' } }
  const schema = schemas.of(answer)
  const type =
    stream === 'events' ? 'text/event-stream' : stream === 'lines' ? 'application/x-ndjson' : 'application/json'
  const description = stream === undefined ? 'The answer.' : `A stream of ${stream}, each of which is described.`
  const asCsv = isAdministrative(path) && listsRows(action) ? { 'text/csv': { schema: { type: 'string' } } } : {}
  return { [status ?? 200]: { description, content: { [type]: { schema }, ...asCsv } } }
}

/** Whether clients may have the answer as CSV. */
function listsRows({ route, answer, status, stream }: AnyAction): boolean {
  const { properties } = (answer ?? {}) as { readonly properties?: { readonly data?: { readonly type?: string } } }
  const isList = properties?.data?.type === 'array'
  return isList && status === undefined && stream === undefined && !route.startsWith('POST ')
}

/** All codes that an action may answer, also those of plugins that may be missing. */
export function codesOf(action: AnyAction, rows: ErrorRows): readonly string[] {
  const { route, query, body, access, errors = [] } = action
  return [
    ...codesOfEvery,
    ...('key' in access ? (['invalid_api_key', 'rate_limit_exceeded'] as const) : []),
    ...('role' in access ? (['invalid_token'] as const) : []),
    ...('role' in access && access.role !== 'any' ? (['forbidden'] as const) : []),
    ...('role' in access ? refusing(rows, access.also) : []),
    ...(route.includes('/:') ? (['not_found'] as const) : []),
    ...(query?.['list'] === true ? (['invalid_cursor'] as const) : []),
    ...(body === undefined ? [] : codesOfBodies),
    ...(hasVersions(action) ? (['stale_version'] as const) : []),
    ...errors,
  ]
}

/** The codes of sessions that an action does not admit. */
function refusing(rows: ErrorRows, also: readonly string[] = []): readonly string[] {
  return [...rows].flatMap(([code, { refuses }]) => (refuses === undefined || also.includes(refuses) ? [] : [code]))
}

/** What those get who may not run an action. */
export function codesOfAccess(rows: ErrorRows): readonly string[] {
  return ['invalid_token', ...refusing(rows), 'forbidden']
}
/** What every action may answer. */
export const codesOfEvery = [
  'unknown_field',
  'invalid_field',
  'internal_error',
  'store_unavailable',
  'overloaded',
  'draining',
  'stage_timeout',
] as const
/** What every action with a body may answer, too. */
export const codesOfBodies = [
  'invalid_json',
  'unsupported_media_type',
  'request_timeout',
  'request_too_large',
  'missing_field',
] as const
