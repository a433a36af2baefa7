import { codesOfAccess, codesOfBodies, codesOfEvery } from '../../openapi/action.ts'
import { inference } from '../../openapi/document.ts'
import type { Schema } from '../../openapi/example-of.ts'
import type { ErrorRows } from '../../openapi/errors.ts'
import type { Json, JsonObject } from '../../spec/json.ts'
import { fieldsOf } from './fields.ts'
import { code, fieldTable, page, table } from './markdown.ts'

/** What the page reads of an operation. */
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly 'x-access': { readonly role?: string; readonly key?: true }
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly description: string
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly content: Contents }
  readonly responses: Readonly<Record<string, { readonly content?: Contents }>>
}

type Contents = Readonly<Record<string, { readonly schema?: JsonObject; readonly examples?: JsonObject }>>

interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> }
}

/** An operation with its place. */
interface Placed extends Operation {
  readonly route: string
}

/** The page of the admin API, from its OpenAPI document. */
export function adminPage(title: string, introduction: string, given: JsonObject, rows: ErrorRows): string {
  const document = given as unknown as Document
  const refusals = codesOfAccess(rows)
  const usual = new Set<string>([...codesOfEvery, ...codesOfBodies, ...refusals])
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, told]): Placed => ({ ...told, route: `${method.toUpperCase()} ${path}` })),
  )
  const groups = document.tags.flatMap(({ name, description }) => {
    const own = operations.filter(({ tags }) => name !== inference && tags.includes(name))
    return own.length === 0 ? [] : [groupOf(name, description, own, document, usual)]
  })
  return page(title, `${introduction}\n\n${ofEvery(refusals)}`, groups)
}

const words = (codes: readonly string[]) => codes.map(code).join(', ')

const ofEvery = (refusals: readonly string[]) => `What holds for all of them:

- A list is cut into pages: \`next_cursor\` of one is \`?cursor\` of the next. A parameter that is a list may be repeated, which means any of its values; with \`not_\` before its name it leaves them out.
- Each may answer the errors ${words(codesOfEvery)}; with a body also ${words(codesOfBodies)}. Whoever may not run it gets ${words(refusals)}.`

function groupOf(
  name: string,
  description: string,
  operations: readonly Placed[],
  document: Document,
  usual: ReadonlySet<string>,
): string {
  const rows = operations.map((one) => [
    `[${one.operationId}](#${one.operationId})`,
    code(one.route),
    accessIn(one),
    one.summary,
  ])
  return [
    `## ${name}`,
    description,
    table(['Action', 'Route', 'For', 'What it does'], rows),
    ...operations.map((one) => actionOf(one, document, usual)),
  ].join('\n\n')
}

function accessIn({ 'x-access': { role, key } }: Operation): string {
  return role ?? (key ? 'key' : 'everybody')
}

function actionOf(operation: Placed, document: Document, usual: ReadonlySet<string>): string {
  const { operationId, summary, route, parameters, requestBody } = operation
  const query = parameters.filter(({ in: place }) => place === 'query')
  const names = new Set(query.map(({ name }) => name))
  const properties = Object.fromEntries(
    query
      .filter(({ name }) => !name.startsWith('not_'))
      .map(({ name, schema, description }) => [
        names.has(`not_${name}`) ? `[not_]${name}` : name,
        { ...schema, description },
      ]),
  )
  const body = requestBody?.content['application/json']?.schema
  const facts = [
    ['for', accessIn(operation)],
    ...(parameters.some(({ name }) => name === 'If-Match')
      ? [['versions', '`If-Match` refuses a change of another version']]
      : []),
    ...(body === undefined || tableIn(body) ? [] : [['body', named(body)]]),
    ['answers', answerIn(operation, document)],
    ...errorsIn(operation, usual),
  ]
  return [
    `### ${operationId}`,
    `${code(route)}: ${summary}`,
    facts.map(([word, text]) => `- ${word}: ${text}`).join('\n'),
    fieldTable([
      ...fieldsOf({ properties }, '?'),
      ...(body !== undefined && tableIn(body) ? fieldsOf(body as Schema) : []),
    ]),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** Whether the fields of a body stand here; those of records and sections have pages of their own. */
function tableIn({ $ref: reference, anyOf }: JsonObject): boolean {
  return reference === undefined && anyOf === undefined
}

function named(schema: JsonObject): string {
  const { $ref: reference } = schema
  if (typeof reference !== 'string')
    return 'the settings of the section, of which each has its own: [Services](services.md)'
  const name = reference.replace('#/components/schemas/', '')
  const record = name.replace('.patch', '')
  const link = `[${record}](records.md#${record})`
  return name === record ? `a ${link}` : `a merge patch for a ${link}`
}

function answerIn({ responses }: Operation, { components }: Document): string {
  const [status = '', { content = {} } = {}] = Object.entries(responses).find(([one]) => one.startsWith('2')) ?? []
  const [type, { schema } = {}] = Object.entries(content)[0] ?? []
  if (schema === undefined) return `${status} without a body`
  const kind = type === 'application/json' ? '' : ` ${code(type ?? '')} of`
  return `${status}${kind}: ${fieldsIn(schema, components.schemas).join(', ')}`
}

/** The names of fields, with those of the rows of a list in brackets. */
function fieldsIn(schema: JsonObject, all: Document['components']['schemas']): string[] {
  const { $ref: reference } = schema
  const { properties = {} } = (typeof reference === 'string' ? all[reference.split('/').at(-1) ?? ''] : schema) as {
    readonly properties?: Readonly<Record<string, JsonObject>>
  }
  return Object.entries(properties).map(([name, { items }]) => {
    const rows = name === 'data' ? fieldsIn((items ?? {}) as JsonObject, all) : []
    return rows.length === 0 ? code(name) : `${code(name)} (each: ${rows.join(', ')})`
  })
}

function errorsIn({ responses }: Operation, usual: ReadonlySet<string>): string[][] {
  const codes = Object.values(responses).flatMap(({ content = {} }) =>
    Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples as Record<string, Json>)),
  )
  const own = codes.filter((one) => !usual.has(one))
  return own.length === 0 ? [] : [['errors', words(own)]]
}
