import { queryOptions } from '@tanstack/react-query'
import type { Answers, Section } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import { pagesOf } from '../../parts/pages.ts'

/** A record of `GET /api/mcp/servers`. */
export type McpServer = Answers['get-mcp-server']

/** `GET …/:name/status`, as far as the asked process knows. */
export type Status = Answers['get-mcp-status']

/** What models read of a tool, beside its name. */
export type Definition = NonNullable<Tool['was']>

export type Tool = Capabilities['tools'][number]

/** A resource, a template of resources, or a prompt, as the server describes it. */
export type Offer = Capabilities['resources'][number]

/** `GET …/:name/capabilities`, asked of the server now. */
export type Capabilities = Answers['get-mcp-capabilities']

/** What the section `mcp_security` says of programs and tools. */
export type Security = Section<'mcp_security'>['values']

/** A program that servers made here may start, as the file lists it. */
export type Program = Exclude<Security['allow_stdio'][number], string>

const at = '/api/mcp/servers'
export const addressOf = (name: string) => `${at}/${encodeURIComponent(name)}`

/** The servers that fit filters, page by page. */
export const serverList = (query: Query) => pagesOf<McpServer>('mcp-servers', at, query)

export const server = (name: string) =>
  queryOptions({
    queryKey: ['mcp-servers', 'one', name],
    queryFn: ({ signal }) => ask<McpServer>('GET', addressOf(name), { signal }),
  })

export const status = (name: string) =>
  queryOptions({
    queryKey: ['mcp-servers', 'status', name],
    queryFn: ({ signal }) => ask<Status>('GET', `${addressOf(name)}/status`, { signal }),
    refetchInterval: 10_000,
  })

export const capabilities = (name: string) =>
  queryOptions({
    queryKey: ['mcp-servers', 'capabilities', name],
    queryFn: ({ signal }) =>
      ask<Capabilities>('GET', `${addressOf(name)}/capabilities`, { query: { compare: true }, signal }),
    // Each one opens a session with the server.
    refetchOnWindowFocus: false,
    retry: false,
  })

export const security = queryOptions({
  queryKey: ['mcp-servers', 'security'],
  queryFn: async ({ signal }) =>
    (await ask<Section<'mcp_security'>>('GET', '/api/config/server/mcp_security', { signal })).values,
  select: ({ tool_changes, allow_stdio: listed }) => ({
    tool_changes,
    programs: listed.map((one): Program =>
      typeof one === 'string' ? { command: one, arguments: [], environment: [] } : one,
    ),
  }),
})

export const probe = (name: string) => ask<Status>('GET', `${addressOf(name)}/status`, { query: { probe: true } })

export const make = (body: unknown) => ask<McpServer>('POST', at, { body })

export const change = ({ name, version }: McpServer, body: unknown) =>
  ask<McpServer>('PATCH', addressOf(name), { body, ifMatch: version })

export const remove = ({ name, version }: McpServer) => ask<undefined>('DELETE', addressOf(name), { ifMatch: version })

export const approve = (name: string, tools: readonly string[]) =>
  ask<Capabilities>('POST', `${addressOf(name)}/approve`, { body: { tools } })
