import { GatewayError, defineService } from '../../engine/index.ts'
import type { ConfigOf, RecordChanged, RecordLookup } from '../../engine/index.ts'
import { asText, isPublicHost } from '../../engine/kit.ts'

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'What MCP servers and their clients may do.',
  properties: {
    allow_stdio: {
      type: 'array',
      title: 'Commands of stdio servers',
      items: { type: 'string', minLength: 1 },
      default: [],
      'x-place': 'mcp.allow_stdio',
      description: 'Commands that MCP servers which are made at run time may start.',
    },
  },
} as const

type Settings = ConfigOf<typeof settings>

/** What MCP servers that are made at run time may do. */
export interface McpServers {
  /** Whether a server that is stored may start this command. */
  mayStart(command: string): boolean
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
  open() {
    let current: Settings = { allow_stdio: [] }
    return {
      configure: (given) => ({
        view: { mayStart: (command) => given.allow_stdio.includes(command) },
        live: () => void (current = given),
      }),
      admit: (change, next) => refuseServer(change, next, current),
    }
  },
})

/** Throws `stdio_not_allowed` or `private_address` for a stored server that may not be so. */
async function refuseServer(
  { type, name, after }: RecordChanged,
  next: RecordLookup,
  { allow_stdio: allowed }: Settings,
): Promise<void> {
  if (type !== 'mcp_server' || after === undefined) return
  const { transport, command, url, allow_private: isFree } = { ...after.value, ...next.reveal(type, name) }
  if (transport === 'stdio') {
    if (allowed.includes(asText(command))) return
    throw new GatewayError('stdio_not_allowed', { command: asText(command) }, { param: 'command' })
  }
  // The address is checked again when the gateway connects.
  if (isFree !== true && !(await isPublicHost(new URL(asText(url)))))
    throw new GatewayError('private_address', { param: 'url' }, { param: 'url' })
}
