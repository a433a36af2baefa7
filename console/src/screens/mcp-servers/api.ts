import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import type { SecretState } from '../../form/control.ts'
import type { Json } from '../../form/schema.ts'
import { pagesOf } from '../../parts/pages.ts'
import type { Answers } from '../../api/answers.ts'

/** A record of `GET /api/mcp/servers`. */
export interface McpServer {
  readonly name: string
  readonly transport: 'http' | 'stdio'
  readonly url: string | null
  readonly headers: { readonly [name: string]: Json }
  readonly command: string | null
  readonly arguments: readonly string[]
  readonly environment: { readonly [name: string]: Json }
  readonly cwd: string | null
  readonly shared: boolean
  readonly restarts: number
  readonly tools: { readonly allow: readonly string[] | null; readonly deny: readonly string[] }
  readonly call_timeout: string | null
  readonly allow_private: boolean
  readonly enabled: boolean
  readonly description: string
  readonly secrets: Readonly<Record<string, SecretState>>
  readonly source: 'file' | 'database'
  readonly declared_at?: { readonly file: string; readonly line: number } | null
  readonly version: number | null
  readonly problem: string | null
}

/** `GET …/:name/status`, as far as the asked process knows. */
export type Status = Answers['get-mcp-status']

/** What models read of a tool, beside its name. */
export type Definition = NonNullable<Tool['was']>

export type Tool = Capabilities['tools'][number]

/** A resource, a template of resources, or a prompt, as the server describes it. */
export type Offer = Capabilities['resources'][number]

/** `GET …/:name/capabilities`, asked of the server now. */
export type Capabilities = Answers['get-mcp-capabilities']

/** A program that servers made here may start, as the file lists it. */
export interface Program {
  readonly command: string
  readonly arguments: readonly string[]
  readonly cwd?: string
  readonly environment: readonly string[]
}

/** What the console reads of the section `mcp_security`. */
export interface Security {
  readonly tool_changes: 'report' | 'refuse' | 'ignore'
  readonly programs: readonly Program[]
}

interface SecurityValues extends Pick<Security, 'tool_changes'> {
  readonly allow_stdio: readonly (string | Program)[]
}

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
  queryFn: async ({ signal }): Promise<Security> => {
    const { values } = await ask<{ values: SecurityValues }>('GET', '/api/config/server/mcp_security', { signal })
    const programs = values.allow_stdio.map((one) =>
      typeof one === 'string' ? { command: one, arguments: [], environment: [] } : one,
    )
    return { tool_changes: values.tool_changes, programs }
  },
})

export const probe = (name: string) => ask<Status>('GET', `${addressOf(name)}/status`, { query: { probe: true } })

export const make = (body: unknown) => ask<McpServer>('POST', at, { body })

export const change = ({ name, version }: McpServer, body: unknown) =>
  ask<McpServer>('PATCH', addressOf(name), { body, ifMatch: version })

export const remove = ({ name, version }: McpServer) => ask<undefined>('DELETE', addressOf(name), { ifMatch: version })

export const approve = (name: string, tools: readonly string[]) =>
  ask<Capabilities>('POST', `${addressOf(name)}/approve`, { body: { tools } })
