import { GatewayError, defineAction } from '../../engine/index.ts'
import type {
  AnyAction,
  AnyRecord,
  Json,
  JsonObject,
  QuerySchema,
  RecordLists,
  ShownRecord,
} from '../../engine/index.ts'
import { answered, asText, listOf, negated, pageOf, shape, versionsIn } from '../../engine/kit.ts'
import type { ListQuery } from '../../engine/kit.ts'

/** Codes of each change of what is stored, and of one that brings values. */
export const codesOfChanges = ['declared_in_file', 'invalid_configuration'] as const
export const codesOfValues = [...codesOfChanges, 'invalid_reference', 'private_address'] as const

/** Schema of a body. The record type, or the section, validates it, together with its references. */
export const bodyOf = (record: string) => ({ type: 'object', 'x-record': record }) as const

/** The actions that show and change the records of a type that says `route`. */
export function recordActions(type: AnyRecord): readonly AnyAction[] {
  const { name, schema, route: path = '', role = 'admin', without = [], errors = [], holds } = type
  // Its service brings actions of its own.
  if (holds === 'service') return []
  const word = (schema as { readonly title?: string }).title ?? name.replaceAll('_', ' ')
  const one = `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`
  const named = (verb: string) => `${verb}-${name.replaceAll('_', '-')}`
  const access = { role } as const
  const writes = { record: name as never }
  const answer = shownSchema(type)
  const lists = type.lists ?? usualLists(type)
  const filters = filtersOf(lists)
  const actions = {
    list: defineAction({
      name: named('list'),
      summary: `Answer a page of the records of type ${word}.`,
      route: `GET ${path}`,
      access,
      query: listOf({ filters, sorts: lists.sorts, usual: 'name' }),
      answer: pageOf(answer),
      run({ query }, _services, _scope, { records }) {
        const found = records.of(name).filter(({ shown }) => fits(shown, lists, query))
        // A record without the field comes first: declared records are older than all others.
        const keyOf = (record: ShownRecord) => [sortable(record.shown[query.sort]), record.name] as const
        const { data, next_cursor } = query.page(found, keyOf)
        return { data: data.map(({ shown }) => shown), next_cursor }
      },
    }),
    create: defineAction({
      name: named('create'),
      summary: `Create ${one}.`,
      route: `POST ${path}`,
      access,
      body: bodyOf(name),
      answer,
      status: 201,
      errors: [...codesOfValues, ...errors, 'name_taken', 'reserved_name'],
      writes,
      async run({ body: value, ingress, by }, _services, _scope, { records }) {
        const made = await records.change({ kind: 'create', type: name, value: value as JsonObject }, by)
        if (made === undefined) throw new Error('a record that was made is there')
        return answeredRecord(made, `${ingress.path}/${encodeURIComponent(made.name)}`)
      },
    }),
    get: defineAction({
      name: named('get'),
      summary: `Answer ${one}.`,
      route: `GET ${path}/:name`,
      access,
      answer,
      run({ params }, _services, _scope, { records }) {
        const record = records.find(name, params.name)
        if (record === undefined) throw notFound(name, params.name)
        return answeredRecord(record)
      },
    }),
    change: defineAction({
      name: named('change'),
      summary: `Change ${one} with a merge patch (RFC 7396).`,
      route: `PATCH ${path}/:name`,
      access,
      body: bodyOf(name),
      answer,
      errors: [...codesOfValues, ...errors, 'in_use', 'reserved_name', 'secret_required'],
      writes,
      async run({ body, params, ingress, by }, _services, _scope, { records }) {
        const patch = body as JsonObject
        const change = { kind: 'change', type: name, name: params.name, patch, ...versionsIn(ingress) } as const
        const changed = await records.change(change, by)
        if (changed === undefined) throw notFound(name, params.name)
        return answeredRecord(changed)
      },
    }),
    delete: defineAction({
      name: named('delete'),
      summary: `Delete ${one}, unless other records refer to it.`,
      route: `DELETE ${path}/:name`,
      access,
      errors: [...codesOfChanges, 'in_use'],
      writes,
      async run({ params, ingress, by }, _services, _scope, { records }) {
        await records.change({ kind: 'delete', type: name, name: params.name, ...versionsIn(ingress) }, by)
      },
    }),
  }
  return Object.entries(actions).flatMap(([verb, action]) => (without.includes(verb) ? [] : [action]))
}

/** A whole record, with its version as entity tag. */
function answeredRecord({ shown, stored }: ShownRecord, location?: string) {
  return answered(shown, { version: stored?.version, ...(location === undefined ? {} : { location }) })
}

export function notFound(type: string, name: string): GatewayError {
  return new GatewayError('not_found', {}, { message: `There is no ${type} "${name.slice(0, 256)}".` })
}

/** JSON Schema of what is shown beside the fields of a record. */
export const beside = {
  secrets: shape.map(
    shape.object({
      set: shape.flag('Whether it is set.'),
      hint: shape.orNull(shape.text('Its last four characters; null: it is too short to show any.')),
    }),
    'The secrets that are set, by dotted path.',
  ),
  declared_at: shape.orNull(
    shape.object(
      { file: shape.text('The file.'), line: shape.integer('The line, from 1.') },
      {},
      'Where the configuration file declares it.',
    ),
  ),
  version: shape.orNull(shape.integer('Its version, from 1; null: it is not stored.')),
  created_at: shape.orNull(shape.time('When it was created.')),
  updated_at: shape.orNull(shape.time('When it was last changed.')),
  problem: shape.orNull(shape.text('Why it is off, or left out of the configuration.')),
} as const

interface RecordSchema {
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** JSON Schema of a record as clients see it. Those of its fields that have no default may be null: they are unset. */
function shownSchema({ schema, secrets = [], shows = {}, always = [], typed }: AnyRecord) {
  const { properties = {}, required = [] } = schema as RecordSchema
  const open = Object.entries(properties).filter(([name]) => !secrets.includes(name))
  const isFilled = (name: string) => properties[name]?.['default'] !== undefined
  const fields = Object.fromEntries(
    open.map(([name, field]) => {
      const told = filled(field) as typeof field
      return [name, required.includes(name) || isFilled(name) ? told : shape.orNull(told)]
    }),
  )
  const source = shape.word(['file', 'database'], 'Where it comes from.')
  const further = typed === undefined ? {} : { config: shape.map({}, 'Its further fields, by its type.') }
  const all: typeof fields = { ...fields, ...further, ...beside, ...(shows as typeof fields) }
  const { name = {}, ...others } = all
  const isAlways = (one: string) => one === 'version' || isFilled(one) || always.includes(one)
  const given = Map.groupBy(Object.entries(others), ([one]) => isAlways(one))
  const of = (isAlways: boolean) => Object.fromEntries(given.get(isAlways) ?? [])
  return shape.object({ name, source, ...of(true) }, of(false))
}

/** The schema of a value in which defaults are filled in. They are for who writes a record. */
function filled(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(filled)
  if (typeof schema !== 'object' || schema === null) return schema
  const { default: _, ...words } = schema as { readonly default?: unknown }
  const made = Object.entries(words).map(([word, inner]) => [word, filled(inner)] as const)
  const { properties = {}, required = [] } = schema as RecordSchema
  const usual = Object.keys(properties).filter((name) => properties[name]?.['default'] !== undefined)
  const all = [...new Set([...required, ...usual])]
  return { ...Object.fromEntries(made), ...(all.length === 0 ? {} : { required: all }) }
}

const search = { type: 'string', description: 'Part of a text of the record, case ignored.' } as const

function filtersOf({ filters }: RecordLists): QuerySchema {
  const fields: QuerySchema = Object.fromEntries(
    Object.entries(filters).map(([name, { accepts }]) => {
      const description = `Records with this ${name.replaceAll('_', ' ')}.`
      if (accepts === 'boolean') return [name, { type: 'boolean', description }]
      return [name, accepts === 'text' ? { type: 'string', description } : { enum: accepts, description }]
    }),
  )
  return { ...fields, ...negated(fields), search }
}

/** Lists of a type that says nothing about them: every field filters that is not secret. */
function usualLists({ schema, secrets = [] }: AnyRecord): RecordLists {
  const { properties = {} } = schema as RecordSchema
  const others = ['limit', 'cursor', 'sort', 'search', ...secrets]
  const fields = ['source', ...Object.keys(properties)].filter((name) => !others.includes(name))
  return {
    filters: Object.fromEntries(fields.map((name) => [name, { accepts: 'text' as const }])),
    sorts: ['name', 'created_at'],
  }
}

function fits(shown: JsonObject, { filters, searched }: RecordLists, list: ListQuery): boolean {
  const texts = searched?.(shown) ?? [shown['name']]
  if (!texts.some((text) => asText(text).toLowerCase().includes(list.search))) return false
  return Object.entries(filters).every(([name, { values = fieldOf(name) }]) => {
    const [wanted, unwanted] = [list.values(name), list.leftOut(name)]
    const isAmong = (texts: readonly string[]) => values(shown).some((value) => texts.includes(textOf(value)))
    return (wanted === undefined || isAmong(wanted)) && (unwanted === undefined || !isAmong(unwanted))
  })
}

function fieldOf(name: string) {
  return (shown: JsonObject) => [shown[name]]
}

function textOf(value: Json | undefined): string {
  return typeof value === 'object' ? '' : String(value)
}

function sortable(value: Json | undefined): string | number | null {
  return typeof value === 'string' || typeof value === 'number' ? value : null
}
