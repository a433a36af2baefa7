import type { Registry } from '../config/registry.ts'
import { stagesOf } from '../pipeline/nodes.ts'
import type { Pipeline } from '../pipeline/nodes.ts'
import type { AnyAction } from '../spec/action.ts'
import type { JsonObject } from '../spec/json.ts'
import { actionOperation, codesOf, templateOf } from './action.ts'
import { errorExamples, errorSchema, rowsOf } from './errors.ts'
import type { ErrorRows } from './errors.ts'
import { inferenceOperation } from './inference.ts'
import { Schemas } from './schemas.ts'

/** What a document describes. */
export interface Documented {
  readonly registry: Registry
  readonly pipelines: readonly Pipeline[]
}

interface Operation {
  readonly method: string
  /** With parameters in braces. */
  readonly path: string
  readonly tag: string
  readonly pipeline: string
  /** Whether it is the action of the route. */
  readonly isOwn: boolean
  readonly told: JsonObject & { readonly operationId: string }
}

/**
 * The OpenAPI document (https://spec.openapis.org/oas/v3.1.1.html) of the admin API and of what holders of API keys
 * ask. Aliases, WebSockets and what everybody may read, such as pages, are no part of it.
 */
export function openApi({ registry, pipelines }: Documented, version: string): JsonObject {
  const schemas = new Schemas(registry, sharedAnswers(pipelines))
  const groups = groupsOf(registry)
  const rows = rowsOf(registry)
  const operations = pipelines
    .flatMap((pipeline) => operationsOf(pipeline, registry, schemas, groups, rows))
    .sort((one, other) => one.path.localeCompare(other.path))
  const byPath = Map.groupBy(withIds(operations), ({ path }) => path)
  const paths = [...byPath].map(
    ([path, some]) =>
      [path, Object.fromEntries(some.map(({ method, tag, told }) => [method, { ...told, tags: [tag] }]))] as const,
  )
  const used = new Set(operations.map(({ tag }) => tag))
  const codes = pipelines.flatMap(({ routes }) => routes.flatMap(({ action }) => (action ? codesOf(action, rows) : [])))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      summary: 'The admin API of the gateway, and what holders of API keys ask.',
      description: introduction,
      contact: { name: 'Whoever operates this gateway' },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    tags: [...groups.tags]
      .flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : []))
      .sort((one, other) => one.name.localeCompare(other.name)),
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes,
      schemas: { error: errorSchema, ...schemas.named },
      examples: errorExamples(codes, rows),
    },
  }
}

/** Gives each operation an id that no other has. Of those that run one action, that of its route has its name. */
function withIds(operations: readonly Operation[]): Operation[] {
  const taken = new Map<string, Operation>()
  for (const one of operations.toSorted((left, right) => Number(right.isOwn) - Number(left.isOwn))) {
    const { operationId: name } = one.told
    const base = taken.has(name) ? `${name}.${one.pipeline}` : name
    let id = base
    for (let count = 2; taken.has(id); count += 1) id = `${base}.${count}`
    taken.set(id, one)
  }
  const ids = new Map([...taken].map(([id, one]) => [one, id]))
  return operations.map((one) => ({ ...one, told: { ...one.told, operationId: ids.get(one) ?? one.told.operationId } }))
}

const introduction =
  'Lists are cut into pages: `next_cursor` of one is `cursor` of the next. Parameters that are lists may be repeated, which means any of the values. A PATCH is a merge patch (RFC 7396); its body may be called `application/merge-patch+json`, too. The version of a record is its entity tag, and `If-Match` refuses a change of another one.'

const securitySchemes: JsonObject = {
  session: { type: 'http', scheme: 'bearer', description: 'The token of a session, which `sign-in` answers.' },
  key: { type: 'http', scheme: 'bearer', description: 'The text of an API key.' },
}

/** The answers, and rows of answers, that several actions share, with a name for each: what the names of these end with. */
function sharedAnswers(pipelines: readonly Pipeline[]): ReadonlyMap<object, string> {
  const actions = [...new Set(pipelines.flatMap(({ routes }) => routes.flatMap(({ action }) => action ?? [])))]
  const whole = new Set(actions.map(({ answer }) => answer))
  const uses = actions.flatMap(({ name, answer }) =>
    [answer, rowOf(answer)].flatMap((schema) => (schema === undefined ? [] : [{ schema, name }])),
  )
  const shared = [...Map.groupBy(uses, ({ schema }) => schema)].filter(([, some]) => some.length > 1)
  return new Map(
    shared.map(([schema, some]) => {
      const end = sharedEnd(some.map(({ name }) => name))
      return [schema, `${end}.${whole.has(schema) ? 'answer' : 'row'}`]
    }),
  )
}

function rowOf(answer: object | undefined): object | undefined {
  const { properties } = (answer ?? {}) as { readonly properties?: { readonly data?: { readonly items?: object } } }
  return properties?.data?.items
}

/** The words that all names end with; the first name if they end with none. */
function sharedEnd(names: readonly string[]): string {
  const [first = '', ...others] = names
  const ends = first.split('-').map((_, at, words) => words.slice(at).join('-'))
  return ends.find((end) => others.every((other) => `-${other}`.endsWith(`-${end}`))) ?? first
}

/** The tag of what holders of API keys ask. */
export const inference = 'inference'

interface Groups {
  readonly tags: ReadonlyMap<string, string>
  readonly tagOf: (action: AnyAction) => string
}

/** Each plugin is a group of its actions, and of those of its records. */
function groupsOf({ plugins }: Registry): Groups {
  const all = [...plugins.values()]
  const byName = new Map(all.flatMap(({ name, actions = [] }) => actions.map((one) => [one.name, name] as const)))
  const byRoute = all.flatMap(({ name, records = [] }) =>
    records.flatMap(({ route }) => (route ? [[route, name] as const] : [])),
  )
  const tags = new Map([
    ...all.map(({ name, summary }) => [name, summary] as const),
    [inference, 'What holders of API keys ask, in the protocols of their clients.'],
  ])
  const ofRecord = ({ route }: AnyAction) => byRoute.find(([path]) => route.split(' ')[1]?.startsWith(path))?.[1]
  return { tags, tagOf: (action) => byName.get(action.name) ?? ofRecord(action) ?? inference }
}

function operationsOf(
  pipeline: Pipeline,
  registry: Registry,
  schemas: Schemas,
  groups: Groups,
  rows: ErrorRows,
): Operation[] {
  const seen = new Set<string>()
  return pipeline.routes.flatMap((route): Operation[] => {
    const { method, path, action, alias } = route
    if (method === 'WS' || alias !== undefined) return []
    const place = { method: method.toLowerCase(), path: templateOf(path), pipeline: pipeline.name }
    if (action !== undefined) {
      const told = actionOperation(action, place.path, schemas, rows)
      return [{ ...place, tag: groups.tagOf(action), isOwn: action.route === `${method} ${path}`, told }]
    }
    // A further route that only begins in another way is another spelling.
    const spelling = `${method} ${place.path.replace(/^\/[^/]*/, '').replaceAll(/\{\w+\}/g, '{}')}`
    if (!isForKeys(pipeline) || seen.has(spelling)) return []
    const told = inferenceOperation(pipeline, { method, path: place.path }, registry, schemas)
    const operationId = seen.size === 0 ? pipeline.name : `${pipeline.name}.${place.path.split(/[/:]/).at(-1)}`
    seen.add(spelling)
    return [{ ...place, tag: inference, isOwn: true, told: { ...told, operationId } }]
  })
}

function isForKeys({ public: isPublic, stages }: Pipeline): boolean {
  const asking = stagesOf(stages).find(({ stage }) => [...stage.provides, ...(stage.gives ?? [])].includes('principal'))
  return !isPublic && asking?.config['with'] !== 'session' && asking?.config['with'] !== 'scraper'
}
