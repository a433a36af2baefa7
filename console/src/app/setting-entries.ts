import { queryOptions } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { fieldsOf } from '../form/schema.ts'
import type { Field, Schema } from '../form/schema.ts'
import type { Entry } from './usePalette.ts'
import { words } from './words.ts'

/** Every setting by its title, which leads to its field. */
export const settingEntries = queryOptions({
  queryKey: ['palette', 'settings'],
  queryFn: async ({ signal }) => {
    const at = '/api/config/server'
    const { data } = await ask<{ data: readonly { readonly section: string }[] }>('GET', at, { signal })
    const sections = await Promise.all(
      data.map(({ section }) => ask<{ section: string; schema: Schema }>('GET', `${at}/${section}`, { signal })),
    )
    return sections.flatMap(({ section, schema }) => entriesOf(section, fieldsOf(schema), words.sectionOf(section)))
  },
  // Schemas change with the gateway alone.
  staleTime: Infinity,
})

const entriesOf = (section: string, fields: readonly Field[], within: string): readonly Entry[] =>
  fields.flatMap(({ kind, path, label, fields: inner }) => {
    const name = words.within(within, label)
    if (kind === 'group') return entriesOf(section, inner, name)
    return [{ name, kind: words.kinds.setting, path: `/settings/${section}?field=${encodeURIComponent(path)}` }]
  })
