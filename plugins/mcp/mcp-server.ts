import { statSync } from 'node:fs'
import { defineRecord } from '../../engine/index.ts'
import type { ConfigOf, JsonObject, RecordReport } from '../../engine/index.ts'
import {
  durationSchema,
  isPublicName,
  isTooShort,
  recordName,
  shape,
  sourceFilter,
  tooShort,
  upstreamProperties,
} from '../../engine/kit.ts'
import { isLinkLocal, withTimes } from '../../engine/kit.ts'
import { found } from './allowed-programs.ts'

const toolNames = { type: 'string', minLength: 1, maxLength: 256 } as const

/** A text that a program may get: its name, an argument, a folder, a value of its environment. */
const word = {
  type: 'string',
  maxLength: 32_768,
  pattern: '^[^\\u0000]*$',
  patternErrorMessage: 'must hold no null character',
} as const

const usualRestarts = 10

/** Names that may stand in addresses in place of a server's. In the file they are only warned of. */
const reservedNames = ['types', 'names', 'status', 'reset']

const schema = {
  type: 'object',
  title: 'MCP server',
  additionalProperties: false,
  examples: [{ name: 'my-server', transport: 'http', url: 'https://mcp.example.com/mcp' }],
  required: ['name', 'transport'],
  description: 'An MCP server that clients reach at /servers/<name>/mcp.',
  properties: {
    name: { ...recordName, description: 'Name of the server.' },
    transport: {
      enum: ['http', 'stdio'],
      description: 'Whether the server is at an address, or a program that the gateway starts.',
    },
    url: { type: 'string', minLength: 1, description: 'Address of its MCP endpoint. Transport http.' },
    headers: {
      ...upstreamProperties.headers,
      propertyNames: {
        pattern: '^[\\w!#$%&*+.^`|~-]+$',
        patternErrorMessage: 'must be the name of a header',
      },
      default: {},
      description: 'Headers of every request to the server, such as its credentials. Transport http.',
    },
    command: {
      ...word,
      minLength: 1,
      description: 'Program, by its path or found in PATH; no shell. Transport stdio.',
    },
    arguments: {
      type: 'array',
      maxItems: 1_000,
      items: word,
      default: [],
      description: 'Arguments of the program.',
    },
    environment: {
      type: 'object',
      propertyNames: {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        patternErrorMessage: 'must be the name of an environment variable',
      },
      additionalProperties: word,
      default: {},
      description: 'Environment of the program, beside PATH. It gets no other variable of the gateway.',
    },
    cwd: { ...word, minLength: 1, description: 'Folder in which the program runs; default: that of the gateway.' },
    shared: {
      type: 'boolean',
      default: false,
      description:
        'Whether all sessions share one process, because the program keeps no state of a session; otherwise each has its own.',
    },
    restarts: {
      type: 'integer',
      minimum: 0,
      maximum: 10_000,
      default: usualRestarts,
      description: 'Most times a minute that the program is started again after it ended by itself.',
    },
    tools: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'Tools that clients may use.',
      properties: {
        allow: {
          type: ['array', 'null'],
          maxItems: 1_000,
          items: toolNames,
          default: null,
          description: 'Names of the only tools that are offered; null: all.',
        },
        deny: {
          type: 'array',
          maxItems: 1_000,
          items: toolNames,
          default: [],
          description: 'Names of tools that are not offered.',
        },
      },
    },
    call_timeout: {
      ...durationSchema,
      'x-minimum': '1ms',
      description: 'Longest silence of a call; default: mcp_security.call_timeout.',
    },
    allow_private: {
      type: 'boolean',
      default: false,
      description: 'Whether a server that is not declared in the file may be at private or loopback addresses.',
    },
    allow_link_local: {
      type: 'boolean',
      description:
        'Whether a server that is declared in the file may be at link-local addresses, or at those where clouds serve their machines. Unset: no. No record that is made at run time may be there.',
    },
    enabled: { type: 'boolean', default: true, description: 'Whether clients can reach the server.' },
    description: { type: 'string', maxLength: 4_096, default: '', description: 'What the server is for, for people.' },
  },
} as const

/** An MCP server of a configuration, with its secrets. */
export type McpServer = ConfigOf<typeof schema>

declare module '../../engine/index.ts' {
  interface Records {
    mcp_server: McpServer
  }
}

/** The fields that belong to one transport alone; the first one is required there. */
const fieldsOf = {
  http: ['url', 'headers'],
  stdio: ['command', 'arguments', 'environment', 'cwd'],
} as const

/** Every field without its default, as clients see it; the values of the maps are secret. */
const unset: JsonObject = {
  transport: null,
  url: null,
  headers: {},
  command: null,
  environment: {},
  cwd: null,
  call_timeout: null,
}

export default defineRecord({
  name: 'mcp_server',
  summary: 'The MCP servers behind /servers/<name>/mcp. A server whose ${VARIABLE} is unset is off.',
  place: 'mcp_servers',
  schema,
  secrets: ['environment'],
  destinations: ['transport', 'command', 'arguments', 'cwd'],
  optional: true,
  switch: 'enabled',
  route: '/api/mcp/servers',
  errors: ['stdio_not_allowed'],
  shows: {
    transport: shape.orNull(schema.properties.transport),
    environment: shape.map({ type: 'string' }, 'Empty: its values are secret, and named in `secrets`.'),
  },
  always: [...Object.keys(unset), 'secrets', 'created_at', 'updated_at', 'problem'],
  check(server, _all, report) {
    const { name, transport, url, allow_link_local: linkLocal = false } = server
    if (reservedNames.includes(name))
      report(['name'], 'reserved', `"${name}" is a part of addresses, so no MCP server can have the name`, 'lenient')
    const [required] = fieldsOf[transport]
    if (server[required] === undefined)
      report([required], 'required', `a server with the transport "${transport}" needs the field "${required}"`)
    for (const field of fieldsOf[transport === 'http' ? 'stdio' : 'http'])
      if (isGiven(server[field])) report([field], 'transport', `belongs to the other transport, not to "${transport}"`)
    // Empty while its variable is unset.
    if (url !== undefined && url !== '') checkUrl(url, linkLocal, report)
    checkDoubts(server, report)
  },
  show: (shown) => ({ ...unset, secrets: {}, ...withTimes(shown) }),
  lists: {
    filters: {
      transport: { accepts: ['http', 'stdio'] },
      enabled: { accepts: 'boolean' },
      source: sourceFilter,
    },
    sorts: ['name', 'created_at'],
    searched: ({ name, description }) => [name, description],
  },
})

function checkUrl(text: string, linkLocal: boolean, report: RecordReport): void {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    report(['url'], 'url', 'must be an address that starts with http:// or https://')
  else if (url.username !== '' || url.password !== '' || url.hash !== '')
    report(['url'], 'url', 'must have no credentials and no fragment; credentials belong in a header')
  else if (!linkLocal && isLinkLocal(url))
    report(['url'], 'link-local', 'is not connected to; only with allow_link_local, in the file', 'warning')
}

/** Warns of values that the schema accepts, and that nobody means. */
function checkDoubts(server: McpServer, report: RecordReport): void {
  const { transport, url = '', headers, command = '', cwd, shared, restarts, tools, call_timeout: wait } = server
  const warn = (path: (string | number)[], code: string, message: string) => report(path, code, message, 'warning')
  for (const [field, isWritten] of Object.entries({ shared, restarts: restarts !== usualRestarts }))
    if (transport === 'http' && isWritten) warn([field], 'transport', 'belongs to the other transport, not to "http"')
  if (/^\S+\s+\S/.test(command) && !command.includes('/'))
    warn(['command'], 'command', 'is one program, started without a shell; write the rest as arguments')
  else if (command !== '' && !/[~/\\]/.test(command) && found(command) === undefined)
    warn(['command'], 'command', 'is no program that PATH has now')
  for (const [field, path] of Object.entries({ command, cwd: cwd ?? '' }))
    if (path.startsWith('~'))
      warn([field], 'command', 'is used without a shell, which alone knows "~"; write the whole path')
  if (
    cwd !== undefined &&
    cwd !== '' &&
    !cwd.startsWith('~') &&
    !statSync(cwd, { throwIfNoEntry: false })?.isDirectory()
  )
    warn(['cwd'], 'command', 'is no folder that is there now')
  server.arguments.forEach((argument, at) => {
    if (/^-\S+\s+\S/.test(argument))
      warn(['arguments', at], 'command', 'is one argument, not split by a shell; write each as a text of its own')
  })
  tools.deny.forEach((name, at) => {
    if (tools.allow?.includes(name))
      warn(['tools', 'deny', at], 'tools', `"${name}" stands in allow, too; deny takes precedence`)
  })
  if (tools.allow?.length === 0) warn(['tools', 'allow'], 'tools', 'is empty, so no tool is offered; null offers all')
  if (isTooShort(wait)) warn(['call_timeout'], 'timeout', tooShort)
  const address = URL.parse(url)
  if (address?.pathname.replace(/\/$/, '').endsWith('/sse'))
    warn(['url'], 'transport', 'looks like the address of the earlier transport (HTTP+SSE), which is not spoken here')
  for (const [name, value] of Object.entries(headers)) {
    if (value === '') warn(['headers', name], 'header', 'is sent without a value')
    if (/^\S{1,32} \$[A-Z_][A-Z0-9_]{0,127}$/.test(value))
      warn(['headers', name], 'interpolation', 'is taken as it is; a variable is written ${NAME}')
  }
  const named = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')
  if (named && address?.protocol === 'http:' && isPublicName(address.hostname))
    warn(['url'], 'plain-http', 'the credential travels unencrypted; did you mean https://?')
  if (named && /^\S+$/.test(named[1]))
    warn(['headers', named[0]], 'credential', `has no scheme; did you mean "Bearer …"?`)
}

/** Whether a field has another value than its default, which is nothing. */
function isGiven(value: McpServer[keyof McpServer]): boolean {
  return value !== undefined && Object.keys(value as object).length > 0
}
