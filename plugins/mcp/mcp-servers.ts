import { GatewayError, defineService } from '../../engine/index.ts'
import type { RecordChanged, RecordLookup, ServiceHost } from '../../engine/index.ts'
import { refuseBeyond, refuseLinkLocal } from '../../engine/kit.ts'
import { AllowedPrograms, allowedPrograms, checkPrograms } from './allowed-programs.ts'
import type { Admission, Program } from './allowed-programs.ts'
import type { McpServer } from './mcp-server.ts'

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'What MCP servers and their clients may do.',
  properties: {
    allow_stdio: allowedPrograms,
  },
} as const

/** What MCP servers that are made at run time may do. */
export interface McpServers {
  /** Whether a server that is stored may start its program. */
  admit(program: Program): Admission
}

declare module '../../engine/index.ts' {
  interface Services {
    mcp_servers: McpServers
  }
}

export default defineService({
  name: 'mcp_servers',
  section: 'mcp_security',
  summary: 'Decides which MCP servers may be made at run time.',
  settings,
  check: ({ allow_stdio: programs }, report) => checkPrograms(programs, report),
  open(host) {
    let current = new AllowedPrograms([])
    const told = new Map<string, string>()
    return {
      configure({ allow_stdio: given }, _views, { records, isDeclared }) {
        const programs = new AllowedPrograms(given)
        const stored = records.of('mcp_server').filter((record) => record.transport === 'stdio' && !isDeclared(record))
        return {
          view: { admit: (program) => programs.admit(program) },
          live() {
            current = programs
            tellOf(stored, programs, { told, log: host.log })
          },
        }
      },
      admit: (change, next) => refuseServer(change, next, current),
    }
  },
})

/** Logs, once each, which stored servers stay where they are and do not run. */
function tellOf(
  stored: readonly McpServer[],
  programs: AllowedPrograms,
  { told, log }: { readonly told: Map<string, string>; readonly log: ServiceHost['log'] },
): void {
  const forbidden = stored.flatMap((record): [string, string][] => {
    const admission = programs.admit(record)
    return 'misfit' in admission ? [[record.name, admission.misfit]] : []
  })
  for (const [name, field] of forbidden)
    if (told.get(name) !== field)
      log.warn({ mcp_server: name, field }, 'mcp.allow_stdio does not allow the program of this stored MCP server')
  told.clear()
  for (const [name, field] of forbidden) told.set(name, field)
}

/** Throws `stdio_not_allowed` or `private_address` for a stored server that may not be so. */
async function refuseServer(
  { type, name, after }: RecordChanged,
  next: RecordLookup,
  programs: AllowedPrograms,
): Promise<void> {
  if (type !== 'mcp_server' || after === undefined) return
  refuseLinkLocal(after.value)
  const secrets = next.reveal(type, name) ?? {}
  // An address may hold a secret in its query.
  const server = { ...after.value, ...secrets } as unknown as McpServer
  if (server.transport === 'stdio') {
    const admission = programs.admit({ ...server, environment: environmentIn(secrets) })
    if (!('misfit' in admission)) return
    const { misfit } = admission
    throw new GatewayError('stdio_not_allowed', { field: misfit }, { param: misfit })
  }
  // The address is checked again when the gateway connects.
  await refuseBeyond(server.allow_private ? 'private' : 'public', new URL(server.url ?? ''), 'url')
}

/** The environment of a server among its secrets, which have dotted paths. */
function environmentIn(secrets: Readonly<Record<string, string>>): McpServer['environment'] {
  const variables = Object.entries(secrets).flatMap(([path, value]): [string, string][] => {
    const [field, name] = path.split('.')
    return field === 'environment' && name !== undefined ? [[name, value]] : []
  })
  return Object.fromEntries(variables)
}
