import { Tag } from '../parts/Tag.tsx'
import { isSame, valueAt } from './draft.ts'
import type { Json } from './schema.ts'
import { words } from './words.ts'

/** What says from where the values of a section are. */
export interface Sourced {
  readonly values: Json
  readonly defaults: Json
  /** Settings that something outside of the section decides, by path, with the reason. */
  readonly overridden: Readonly<Record<string, string>>
  readonly source: 'file' | 'database' | 'default'
}

/** From where the value of a setting is. */
export function Origin({ section, path }: { readonly section: Sourced; readonly path: string }) {
  const { values, defaults, overridden, source } = section
  const reason = overridden[path]
  if (reason !== undefined)
    return (
      <Tag look="warning" title={reason}>
        {/^[A-Z][A-Z\d_]*$/.test(reason) ? words.origins.environment : words.origins.file}
      </Tag>
    )
  if (source === 'default' || isSame(valueAt(values, path), valueAt(defaults, path)))
    return <Tag>{words.origins.default}</Tag>
  return <Tag look="accent">{words.origins[source]}</Tag>
}
