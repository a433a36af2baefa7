import type { Query } from '../../api/ask.ts'
import type { PluginPage } from '../../api/pages.ts'
import { printed } from '../../form/control.ts'
import { fieldOf } from '../../form/schema.ts'
import type { Schema } from '../../api/json.ts'
import { leaving, valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField, FilterValue } from '../../parts/FilterBar.tsx'
import { readMoment } from '../../parts/zone.ts'
import type { Zone } from '../../parts/zone.ts'
import { words } from './words.ts'

const parametersOf = ({ forms }: PluginPage): Readonly<Record<string, Schema>> => forms.query.properties ?? {}

export const isSearched = (page: PluginPage): boolean => 'search' in parametersOf(page)

/** The words of the list's order, of which the first is the usual one. */
export function sortsOf(page: PluginPage): readonly [string, ...string[]] {
  const { enum: all = [], default: usual } = parametersOf(page)['sort'] ?? {}
  return [printed(usual), ...all.map(printed).filter((sort) => !sort.startsWith('-'))]
}

const ofLists = ['limit', 'cursor', 'sort', 'search']

/** What the list can be filtered by. A field of its rows says which values there are, where the parameter does not. */
export function filtersOf(page: PluginPage): readonly FilterField[] {
  const all = parametersOf(page)
  const isOwn = (name: string) => !ofLists.includes(name) && !(name.startsWith('not_') && name.slice(4) in all)
  return Object.entries(all)
    .filter(([name]) => isOwn(name))
    .map(([name, schema]): FilterField => {
      const field = page.row.properties?.[name]
      const values = valuesIn(schema) ?? (field && valuesIn(field))
      return {
        name,
        label: fieldOf(field ?? schema, name).label,
        ...(values ? { values } : { typed: true }),
        single: isMoment(schema) || isNumber(schema),
        ...(isMoment(schema) ? { example: new Date().toISOString().slice(0, 10) } : {}),
        leavable: leaving(name) in all,
      }
    })
}

function valuesIn({ type, enum: given }: Schema): readonly FilterValue[] | undefined {
  if ([type].flat().includes('boolean')) return valuesOf(words.yesNo)
  return given?.filter((value) => value !== null).map((value) => ({ value: printed(value), label: printed(value) }))
}

const isMoment = ({ format }: Schema) => format === 'date-time'
const isNumber = ({ type }: Schema) => type === 'number' || type === 'integer'

/** A query as the list takes it: moments in full, those without a zone of their own read in the given one. */
export function withMoments(page: PluginPage, query: Query, zone: Zone): Query {
  const all = parametersOf(page)
  const moment = (text: string) => readMoment(text, zone)?.toISOString() ?? text
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const schema = all[name]
      return [name, schema && isMoment(schema) ? [value ?? []].flat().map((one) => moment(String(one))) : value]
    }),
  )
}
