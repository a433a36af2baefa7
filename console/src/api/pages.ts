import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from './answers.ts'
import { ask } from './ask.ts'
import { heldSession } from './session.ts'
import { configured } from './status.ts'

/** A page that a plugin brings, as far as the session may use it. */
export type PluginPage = Row<'list-pages'>

/** The pages of plugins that the session may read. */
export const pluginPages = queryOptions({
  queryKey: [configured, 'pages'],
  queryFn: async ({ signal }) => (await ask<Answers['list-pages']>('GET', '/api/pages', { signal })).data,
  // Viewers may not read which configuration runs.
  refetchInterval: () => (heldSession()?.user.role === 'admin' ? false : 30_000),
})
