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

export const saveSection = ({ section: name, version }: ListedSection, body: unknown) =>
  ask<ListedSection>('PATCH', `${at}/${name}`, { body, ifMatch: version })

export const resetSection = ({ section: name, version }: ListedSection) =>
  ask<unknown>('DELETE', `${at}/${name}`, { ifMatch: version })
