import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { SecretState } from '../../form/control.ts'
import type { Sourced } from '../../form/Origin.tsx'
import type { Schema } from '../../form/schema.ts'

/** A row of `GET /api/config/server`. */
export interface ListedSection extends Sourced {
  readonly section: string
  readonly version: number | null
  readonly updated_at: string | null
  readonly updated_by: { readonly username?: string } | string | null
  /** Why its values are not in force. */
  readonly problem: string | null
  readonly secrets?: Readonly<Record<string, SecretState>>
  readonly declared_at?: { readonly file: string; readonly line: number } | null
}

export interface Section extends ListedSection {
  readonly schema: Schema
}

const at = '/api/config/server'

export const sectionList = queryOptions({
  queryKey: ['settings', 'list'],
  queryFn: async ({ signal }) => (await ask<{ data: readonly ListedSection[] }>('GET', at, { signal })).data,
})

export const section = (name: string) =>
  queryOptions({
    queryKey: ['settings', name],
    queryFn: ({ signal }) => ask<Section>('GET', `${at}/${name}`, { signal }),
  })

/** A section of which nothing is stored has version 0. */
const versionOf = ({ version }: ListedSection) => version ?? 0

export const saveSection = (section: ListedSection, body: unknown) =>
  ask<ListedSection>('PATCH', `${at}/${section.section}`, { body, ifMatch: versionOf(section) })

export const resetSection = (section: ListedSection) =>
  ask<unknown>('DELETE', `${at}/${section.section}`, { ifMatch: versionOf(section) })
