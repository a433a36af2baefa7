import { fieldsOf } from '../../form/schema.ts'
import type { Field, Json, Schema } from '../../form/schema.ts'
import type { McpServer, Program } from './api.ts'
import { words } from './words.ts'

const said = (name: keyof typeof words.fields) => {
  const [title, description] = words.fields[name]
  return { title, description }
}

const toolNames: Schema = { type: 'array', items: { type: 'string', maxLength: 256 } }
const secrets: Schema = { type: 'object', additionalProperties: { type: 'string', writeOnly: true } }
const word: Schema = { type: 'string' }

interface Programs {
  /** Those that the file allows. */
  readonly programs: readonly Program[]
  /** The command of the server itself. */
  readonly own?: readonly string[]
}

const lineOf = ({ command, arguments: words, cwd, environment }: Program): string =>
  [...environment.map((name) => `${name}=…`), command, ...words, ...(cwd === undefined ? [] : [`(in ${cwd})`])].join(
    ' ',
  )

/** The fields that belong to one transport alone. */
const own = (
  transport: McpServer['transport'],
  { programs, own: commands = [] }: Programs,
): Readonly<Record<string, Schema>> =>
  transport === 'http'
    ? {
        url: { type: 'string', format: 'uri', pattern: '^https?://', ...said('url') },
        headers: { ...secrets, ...said('headers') },
        allow_private: { type: 'boolean', default: false, ...said('allow_private') },
      }
    : {
        command: {
          enum: [...new Set([...commands, ...programs.map(({ command }) => command)])],
          ...said('command'),
          description: words.allowedPrograms(programs.map(lineOf)),
        },
        arguments: { type: 'array', items: word, ...said('arguments') },
        environment: { ...secrets, ...said('environment') },
        cwd: { ...word, ...said('cwd') },
        shared: { type: 'boolean', default: false, ...said('shared') },
        restarts: { type: 'integer', minimum: 0, maximum: 10_000, default: 10, ...said('restarts') },
      }

const common: Readonly<Record<string, Schema>> = {
  description: { type: 'string', maxLength: 4096, ...said('description') },
  tools: {
    type: 'object',
    ...said('tools'),
    properties: {
      allow: { ...toolNames, type: ['array', 'null'], 'x-null': words.allTools, ...said('allow') },
      deny: { ...toolNames, ...said('deny') },
    },
  },
  call_timeout: {
    type: ['string', 'null'],
    pattern: '^\\d+(\\.\\d+)?(ms|s|m|h|d)$',
    'x-null': words.usualTimeout,
    ...said('call_timeout'),
  },
}

const name: Schema = { type: 'string', maxLength: 64, ...said('name') }
const required = ['name', 'url', 'command']

/** The fields of a server; its name only while it is made. */
export const serverFields = (
  transport: McpServer['transport'],
  { isNew, ...programs }: Programs & { readonly isNew: boolean },
): readonly Field[] =>
  fieldsOf({ properties: { ...(isNew ? { name } : {}), ...own(transport, programs), ...common }, required })

/** The values of a server at the paths of its fields. */
export const valuesOf = (server: McpServer): Json => ({
  url: server.url,
  headers: {},
  allow_private: server.allow_private,
  command: server.command,
  arguments: server.arguments,
  environment: {},
  cwd: server.cwd,
  shared: server.shared,
  restarts: server.restarts,
  description: server.description,
  tools: { allow: server.tools.allow, deny: server.tools.deny },
  call_timeout: server.call_timeout,
})
