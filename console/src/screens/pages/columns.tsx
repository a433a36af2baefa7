import type { PluginPage } from '../../api/pages.ts'
import { printed, textOf } from '../../form/control.ts'
import { fieldOf } from '../../form/schema.ts'
import type { Json } from '../../api/json.ts'
import type { Field } from '../../form/schema.ts'
import { asked } from '../../parts/CellMenu.tsx'
import { leaving } from '../../parts/FilterBar.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { RecordName } from '../../parts/RecordName.tsx'
import type { Column } from '../../parts/Table.tsx'
import { stateOf } from './api.ts'
import type { Row, RowState } from './api.ts'
import { sortsOf } from './filters.ts'

/** A field of a row by its name. */
export const fieldIn = ({ row }: PluginPage, name: string): Field => fieldOf(row.properties?.[name] ?? {}, name)

/** A value as text, one of several fields with their names. */
function textIn(field: Field, value: Json | undefined): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return textOf(field, value, {})
  const parts = Object.entries(value).map(([name, inner]) => `${fieldOf({}, name).label}: ${printed(inner)}`)
  return parts.join(', ') || textOf(field, null, {})
}

const isEmpty = (value: Json | undefined): boolean => value === undefined || value === null || value === ''

/** A value as people read it; whatever it holds stays text. */
export function Value({ field, value }: { readonly field: Field; readonly value: Json | undefined }) {
  if (field.kind === 'moment' && typeof value === 'string' && !Number.isNaN(Date.parse(value)))
    return <Moment at={value} />
  return textIn(field, value)
}

/** The columns of a list, as its plugin declares them. */
export function columnsOf(page: PluginPage): readonly Column<Row>[] {
  const { columns, key, forms } = page
  const sorts = sortsOf(page)
  return columns.map((name): Column<Row> => {
    const field = fieldIn(page, name)
    return {
      name,
      label: field.label,
      number: field.kind === 'number',
      ...(sorts.some((sort) => sort.replace(/^-/, '') === name) ? { sort: name } : {}),
      cell: (row) =>
        name === key ? <Name id={row[name]} source={stateOf(page, row).source} /> : cellOf(field, row[name]),
      text: (row) => (isEmpty(row[name]) ? null : textIn(field, row[name])),
      ...(leaving(name) in (forms.query.properties ?? {})
        ? { filter: (row) => asked(name, isEmpty(row[name]) ? null : printed(row[name]), textOf(field, row[name], {})) }
        : {}),
    }
  })
}

function Name({ id, source }: { readonly id: Json | undefined; readonly source: RowState['source'] }) {
  return <RecordName name={printed(id)} {...(source === 'file' ? { source } : {})} />
}

/** An empty cell says less than "not set" in each row. */
const cellOf = (field: Field, value: Json | undefined) =>
  isEmpty(value) ? null : <Value field={field} value={value} />
