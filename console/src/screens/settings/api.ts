import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'

/** A row of `GET /api/config/server`. */
export type ListedSection = Row<'list-section'>

/** `GET /api/config/server/:name`. */
export type Section = Answers['get-section']

const at = '/api/config/server'

/** Posts a test to a target of notifications. */
export const sendTest = (to: string) =>
  ask<Answers['test-notifications']>('POST', '/api/notifications/test', { body: { to } })

export const sectionList = queryOptions({
  queryKey: ['settings', 'list'],
  queryFn: async ({ signal }) => (await ask<Answers['list-section']>('GET', at, { signal })).data,
})

export const section = (name: string) =>
  queryOptions({
    queryKey: ['settings', name],
    queryFn: ({ signal }) => ask<Section>('GET', `${at}/${name}`, { signal }),
  })

/** A section of which nothing is stored has version 0. */
const versionOf = ({ version }: ListedSection) => version ?? 0

export const saveSection = (section: ListedSection, body: unknown) =>
  ask<Answers['change-section']>('PATCH', `${at}/${section.section}`, { body, ifMatch: versionOf(section) })

export const resetSection = (section: ListedSection) =>
  ask<Answers['reset-section']>('DELETE', `${at}/${section.section}`, { ifMatch: versionOf(section) })
