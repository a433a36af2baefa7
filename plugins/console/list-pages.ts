import { defineAction } from '../../engine/index.ts'
import type { AnyRecord, JsonObject, PageAction, PageView, Principal } from '../../engine/index.ts'
import { defined, formOf, isOfRole, pageGroups, pageIcons, shape } from '../../engine/kit.ts'

const schema = (of: string) => shape.json(`JSON Schema of ${of}, for a form.`)

const page = shape.object({
  name: shape.text('The name of its type of record, or of its action; it is at /pages/<name>.'),
  kind: shape.word(['record', 'action'], 'Whether its rows are records of the gateway, or what an action lists.'),
  title: shape.text('What it is called.'),
  group: shape.word(pageGroups, 'Where it stands in the rail.'),
  icon: shape.word(pageIcons, 'Its icon.'),
  columns: shape.list(shape.text('A field.'), 'The fields of a row that the list shows, in order.'),
  facts: shape.list(shape.text('A field.'), 'The fields of a row that the page of one record shows.'),
  key: shape.orNull(shape.text('The field that names the record of a row; null: its records are not opened.')),
  routes: shape.object(
    { list: shape.text('Lists the rows.') },
    {
      get: shape.text('Answers one record; absent: it is found in the list.'),
      create: shape.text('Makes a record.'),
      change: shape.text('Changes a record with a merge patch.'),
      delete: shape.text('Deletes a record.'),
    },
    'The routes behind it that the session may ask, each as method and path.',
  ),
  forms: shape.object(
    { query: schema('the parameters of the list') },
    { create: schema('a new record'), change: schema('a changed record') },
    'The forms of the queries and bodies of its routes.',
  ),
  row: schema('a row'),
})

/** Answers the pages of record types and actions, with all that the console needs to show them. */
export default defineAction({
  name: 'list-pages',
  summary: 'Answer the pages that plugins bring to the console, as far as the session may read them.',
  route: 'GET /api/pages',
  access: { role: 'any' },
  answer: shape.all(page),
  run: ({ principal }, _services, _scope, { running, records }) => ({
    data: running
      .pages()
      .filter(({ actions }) => mayRun(principal, actions.list))
      .map((one) => pageWire(one, principal, records.types)),
  }),
})

function pageWire(
  { key, actions, query, row, ...told }: PageView,
  principal: Principal,
  types: ReadonlyMap<string, AnyRecord>,
) {
  const open = Object.entries(actions).filter(([, action]) => mayRun(principal, action))
  const { create, change } = Object.fromEntries(open) as Partial<PageView['actions']>
  const forms = { create: create && formIn(create, types), change: change && formIn(change, types) }
  return {
    ...told,
    key: key ?? null,
    routes: Object.fromEntries(open.map(([verb, { route }]) => [verb, route])),
    forms: { query: formOf({ type: 'object', properties: query }), ...defined(forms) },
    row: formOf(row),
  }
}

function mayRun(principal: Principal, { access }: PageAction): boolean {
  return 'public' in access || ('role' in access && isOfRole(principal, access.role))
}

/** The form of a body: the fields of its type of record, or its own. */
function formIn({ body = {} }: PageAction, types: ReadonlyMap<string, AnyRecord>): JsonObject {
  const { 'x-record': type } = body as { readonly 'x-record'?: string }
  const record = type === undefined ? undefined : types.get(type)
  return record === undefined ? formOf(body) : formOf(record.schema, record.secrets)
}
