// Writes the types of what the admin API answers, from its OpenAPI document. Run by `npm run docs`.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from 'json-schema-to-typescript'

type Json = null | boolean | number | string | readonly Json[] | Schema
interface Schema {
  readonly [word: string]: Json
}
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly 'x-access': { readonly key?: true }
  readonly responses: {
    readonly [status: string]: { readonly content?: { readonly [type: string]: { readonly schema: Schema } } }
  }
}
interface Document {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: { readonly schemas: Schema }
}

const root = join(import.meta.dirname, '..')
const file = 'console/src/api/answers.ts'

const isSchema = (value: Json): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A schema for types: any JSON has a name, the settings of a section have no fields, and titles name nothing. */
function typed(schema: Json): Json {
  if (Array.isArray(schema)) return (schema as readonly Json[]).map(typed)
  if (!isSchema(schema)) return schema
  const { title: _, $ref: reference, ...words } = schema
  if (typeof reference === 'string') return { $ref: reference.replace('#/components/schemas/', '#/definitions/') }
  // A form is drawn from it.
  if (Object.keys(words).every((word) => word === 'description'))
    return { ...words, tsType: JSON.stringify(words).includes('for a form') ? 'Schema' : 'Json' }
  if (JSON.stringify(words['anyOf'] ?? null).includes('/section.'))
    return { tsType: '{ readonly [setting: string]: Json }' }
  // Conditions that some fields must be given make no other type.
  const isCondition = (one: Json) => isSchema(one) && 'required' in one && !('type' in one)
  const kept = Object.entries(words).filter(([, inner]) => !Array.isArray(inner) || !inner.some(isCondition))
  return Object.fromEntries(kept.map(([word, inner]) => [word, within(word, inner)]))
}

/** The names of properties are no keywords. */
function within(word: string, inner: Json): Json {
  if (word !== 'properties' || !isSchema(inner)) return typed(inner)
  return Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, typed(one)]))
}

/** A schema of settings, in which defaults are filled in: what has one is always there. */
function filled(schema: Json): Json {
  if (Array.isArray(schema)) return (schema as readonly Json[]).map(filled)
  if (!isSchema(schema)) return schema
  const words = Object.fromEntries(Object.entries(schema).map(([word, inner]) => [word, filled(inner)]))
  const { properties, required } = schema
  if (properties === undefined || !isSchema(properties)) return words
  const usual = Object.entries(properties).flatMap(([name, one]) => (isSchema(one) && 'default' in one ? [name] : []))
  return { ...words, required: [...new Set([...((required ?? []) as readonly string[]), ...usual])] }
}

function answerOf({ summary, responses }: Operation): Schema {
  const [, { content = {} } = {}] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
  const [answer] = Object.values(content)
  if (answer === undefined) return { tsType: 'undefined', description: summary }
  const type = typed(answer.schema) as Schema
  // What stands beside a reference would make another type of it.
  return type['$ref'] === undefined ? { ...type, description: summary } : type
}

const { stdout } = spawnSync(process.execPath, [join(root, 'engine/bin/sluice.cjs'), 'schema', '--openapi'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const { paths, components } = JSON.parse(stdout) as Document
const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
const actions = operations.filter(({ 'x-access': access }) => access.key === undefined)
const properties = Object.fromEntries(
  actions
    .sort((one, other) => one.operationId.localeCompare(other.operationId))
    .map((one) => [one.operationId, answerOf(one)]),
)
const settings = Object.fromEntries(
  Object.entries(components.schemas).flatMap(([name, schema]) =>
    /^section\.\w+$/.test(name) ? [[name.replace('section.', ''), typed(filled(schema))]] : [],
  ),
)
const definitions = within('properties', components.schemas)

/** The types of an object that has all of some fields. */
function typesOf(name: string, fields: Schema, bannerComment: string): Promise<string> {
  const required = Object.keys(fields)
  const schema = { type: 'object', additionalProperties: false, required, properties: fields, definitions }
  return compile(schema as never, name, {
    bannerComment,
    ignoreMinAndMaxItems: true,
    style: { semi: false, singleQuote: true, printWidth: 120, bracketSpacing: true },
  })
}

const banner = `// Generated by "npm run docs"; changes made here are lost.\nimport type { Json, Schema } from './json.ts'\n`
const text = [
  await typesOf('Answers', properties, banner),
  await typesOf('Settings', settings, '/** The settings of each section. */'),
].join('\n')
const short = text.replaceAll(/\/\*\*\n\s+\* (.*)\n\s+\*\//g, '/** $1 */')
const rows = `/** A row of what an action lists. */
export type Row<
  A extends { [L in keyof Answers]: Answers[L] extends { data: readonly unknown[] } ? L : never }[keyof Answers],
> = Answers[A]['data'][number]

/** A section of the settings, with its values. */
export type Section<S extends keyof Settings> = Omit<Answers['get-section'], 'values'> & { values: Settings[S] }
`
writeFileSync(join(root, file), `${short}\n${rows}`)
process.stdout.write(`${file}  written\n`)
