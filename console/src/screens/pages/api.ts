import { queryOptions } from '@tanstack/react-query'
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import type { McpServerAnswer } from '../../api/answers.ts'
import { ask, Refusal } from '../../api/ask.ts'
import type { Method, Query } from '../../api/ask.ts'
import type { PluginPage } from '../../api/pages.ts'
import { printed } from '../../form/control.ts'
import { count } from '../../format.ts'
import type { Json } from '../../api/json.ts'
import { mostEntries, pagesOf, readAll } from '../../parts/pages.ts'
import type { ListPage } from '../../parts/pages.ts'
import { words } from './words.ts'

/** A row of a plugin's list. */
export type Row = Readonly<Record<string, Json>>

/** What records of the gateway have beside their own fields; every type of them has it as MCP servers do. */
export type RowState = Partial<Pick<McpServerAnswer, 'source' | 'declared_at' | 'secrets'>>

/** What the gateway says of a row; nothing where an action lists it, whose fields are the plugin's own. */
export const stateOf = ({ kind }: PluginPage, row: Row): RowState => (kind === 'record' ? row : {})

type Verb = keyof PluginPage['routes']

/** Begins the keys of the queries of a page. */
export const keysOf = ({ name }: PluginPage): string => `pages/${name}`

/** The path of one of the routes of a page; `id` is that of the record. */
export function pathOf({ routes }: PluginPage, verb: Verb, id = ''): string {
  const [, path = ''] = routes[verb]?.split(' ') ?? []
  return path.replace(/:\w+/, () => encodeURIComponent(id))
}

/** The id of the record of a row. */
export const idOf = ({ key }: PluginPage, row: Row): string => printed(row[key ?? ''])

/** The rows that fit filters, page by page. */
export const rowsOf = (page: PluginPage, query: Query) => pagesOf<Row>(keysOf(page), pathOf(page, 'list'), query)

/** One record; where no route answers it alone, it is looked for in the list. */
export const recordOf = (page: PluginPage, id: string) =>
  queryOptions({
    queryKey: [keysOf(page), 'one', id],
    queryFn: async ({ signal }) => {
      if (page.routes.get !== undefined) return ask<Row>('GET', pathOf(page, 'get', id), { signal })
      const rows = await readAll<Row>(pathOf(page, 'list'), signal)
      const found = rows.find((row) => idOf(page, row) === id)
      if (found) return found
      const message = rows.length < mostEntries ? words.noRecord(id) : words.notAmong(id, count(mostEntries))
      const gone = { param: null, code: 'not_found', message }
      throw new Refusal(pathOf(page, 'list'), 404, gone, [gone], null)
    },
  })

/** The row of a record in a list that was shown and is not known to be outdated, where no route answers it alone. */
export function shownRow(queries: QueryClient, page: PluginPage, id: string): Row | undefined {
  if (page.routes.get !== undefined) return undefined
  const lists = queries.getQueriesData<InfiniteData<ListPage<Row>>>({
    queryKey: [keysOf(page), 'list'],
    predicate: ({ state }) => !state.isInvalidated,
  })
  return lists
    .flatMap(([, list]) => list?.pages ?? [])
    .flatMap(({ data }) => data)
    .find((row) => idOf(page, row) === id)
}

/** Makes, changes or deletes a record; answers the record as it is then, if the route does. */
export function send(page: PluginPage, verb: Verb, { row, body }: { readonly row?: Row; readonly body?: unknown }) {
  const [method = ''] = page.routes[verb]?.split(' ') ?? []
  const version = row?.['version']
  return ask<Row | undefined>(method as Method, pathOf(page, verb, row && idOf(page, row)), {
    ...(body === undefined ? {} : { body }),
    ...(typeof version === 'number' ? { ifMatch: version } : {}),
  })
}
