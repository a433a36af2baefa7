import { unescape } from 'node:querystring'
import type { Json } from '../../engine/index.ts'
import { escaped, freeName, hasVariable } from './draft.ts'
import type { Draft } from './draft.ts'
import { readHeaders } from './headers.ts'
import { noTimeout, secondsAsDuration, textsIn } from './litellm-deployment.ts'
import type { Report } from './report.ts'
import { at, isEmpty, itemsOf, membersOf, numberOf, textOf } from './tree.ts'
import type { Node } from './tree.ts'

/** Fields of a server in LiteLLM that are read together. */
const together = ['url', 'transport', 'auth_type', 'auth_value', 'authentication_token', 'command', 'args', 'env']

/** Reads `mcp_servers`: a server by its name. */
export function readMcpServers(section: Node | undefined, draft: Draft, report: Report): void {
  for (const [name, entry] of membersOf(section)) readServer(name, entry, draft, report)
}

function readServer(given: string, entry: Node, draft: Draft, report: Report): void {
  const url = at(entry, 'url')
  const said = textOf(at(entry, 'transport'))?.toLowerCase()
  const isProgram = said === 'stdio' || (said === undefined && at(entry, 'command') !== undefined)
  const address = textOf(url) ?? ''
  if (said === 'sse' || (said === undefined && /\/sse\/?$/.test(address)))
    return report.lost(
      entry,
      'the earlier transport (HTTP+SSE) is not spoken; use the address of its MCP endpoint',
      'client',
    )
  if (said !== undefined && !['http', 'streamable_http', 'stdio'].includes(said))
    return report.lost(entry, 'its transport is neither http nor stdio', 'client')
  const auth = textOf(at(entry, 'auth_type'))?.toLowerCase()
  if (auth?.startsWith('oauth') === true)
    return report.lost(entry, 'signing in at the server (oauth2) is not supported; use a token in a header', 'client')
  if (isProgram ? textOf(at(entry, 'command')) === undefined : address === '')
    return report.lost(entry, 'it has no address and no program', 'client')
  const taken = new Set(draft.mcpServers.map(({ name }) => name as string))
  const name = freeName(
    given
      .trim()
      .replaceAll(/[\s/]+/g, '-')
      .slice(0, 250) || 'server',
    taken,
  )
  const place = isProgram ? undefined : serverAddress(url as Node, name, draft)
  if (!isProgram && place === undefined)
    return report.lost(entry, 'its address does not start with http:// or https://', 'client')
  if (name !== given) report.changed(entry, `clients call it "${name}"`, 'mcp_servers[].name', 'client')
  const record: Record<string, Json> = { name, transport: isProgram ? 'stdio' : 'http' }
  const server = { name, entry, record, draft, report }
  if (isProgram) readProgram(server)
  else if (place) readAddress(server, auth, place)
  readFields(server)
  draft.mcpServers.push(record)
}

interface Server {
  readonly name: string
  readonly entry: Node
  readonly record: Record<string, Json>
  readonly draft: Draft
  readonly report: Report
}

function readProgram({ name, entry, record, draft, report }: Server): void {
  const place = 'mcp_servers[]'
  const command = at(entry, 'command')
  if (command) {
    record['command'] = draft.command(command, name)
    report.mapped(command, `${place}.command`)
  }
  const args = itemsOf(at(entry, 'args'))
  if (args.length > 0) record['arguments'] = draft.words(args, name)
  args.forEach((one) => report.mapped(one, `${place}.arguments`))
  const environment = membersOf(at(entry, 'env')).flatMap(([variable, node]) => {
    if (!/^[A-Za-z_]\w*$/.test(variable) || variable === '__proto__' || node.kind !== 'leaf') {
      report.lost(node, 'is no variable')
      return []
    }
    report.mapped(node, `${place}.environment`)
    return [[variable, draft.hidden(node, variable, `${name}_${variable}`)] as const]
  })
  if (environment.length > 0) record['environment'] = Object.fromEntries(environment)
  const transport = at(entry, 'transport')
  if (transport) report.mapped(transport, `${place}.transport`)
}

/** Where a server is, and the header of the credentials that stood in its address. */
interface ServerAddress {
  readonly url: string
  readonly headers: Readonly<Record<string, Json>>
}

/** Reads the address of a server; undefined: it is none. */
export function serverAddress(node: Node, name: string, draft: Draft): ServerAddress | undefined {
  if (draft.isVariable(node)) return { url: draft.text(node), headers: {} }
  const url = URL.parse(textOf(node) ?? '')
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined
  const { username, password, hash } = url
  if (username + password + hash === '') return { url: draft.address(node, `${name}_url`), headers: {} }
  const pair = Buffer.from(`${unescape(username)}:${unescape(password)}`).toString('base64')
  Object.assign(url, { username: '', password: '', hash: '' })
  const open = { ...node, text: url.href, value: url.href }
  const authorization =
    username + password === '' ? {} : { authorization: `Basic ${draft.variable(draft.keep(pair, `${name}_basic`))}` }
  return { url: draft.address(open, `${name}_url`), headers: authorization }
}

function readAddress(
  { name, entry, record, draft, report }: Server,
  auth: string | undefined,
  address: ServerAddress,
): void {
  const place = 'mcp_servers[]'
  const url = at(entry, 'url')
  const transport = at(entry, 'transport')
  if (transport) report.mapped(transport, `${place}.transport`)
  if (url) {
    record['url'] = address.url
    if (transport) report.mapped(url, `${place}.url`)
    else report.changed(url, 'it is spoken to over Streamable HTTP', `${place}.url`)
  }
  const headers: Record<string, Json> = { ...address.headers }
  for (const field of ['static_headers', 'headers'])
    Object.assign(
      headers,
      readHeaders(at(entry, field), {
        draft,
        report,
        to: `${place}.headers`,
        value: (node, header) => draft.hidden(node, header, `${name}_${header}`),
      }),
    )
  readAuth({ name, entry, record, draft, report }, auth, headers)
  if (Object.keys(headers).length > 0) record['headers'] = headers
}

const schemes: Readonly<Record<string, readonly [header: string, before: string]>> = {
  api_key: ['x-api-key', ''],
  bearer_token: ['authorization', 'Bearer '],
  authorization: ['authorization', ''],
  token: ['authorization', 'token '],
}

function readAuth(
  { name, entry, draft, report }: Server,
  auth: string | undefined,
  headers: Record<string, Json>,
): void {
  const kind = at(entry, 'auth_type')
  const value = [at(entry, 'auth_value'), at(entry, 'authentication_token')].find((node) => textOf(node) !== undefined)
  if (kind === undefined && value === undefined) return
  if (auth === 'none' || value === undefined) {
    if (kind) report.default(kind, 'no credential is sent')
    return
  }
  if (auth === 'basic') {
    if (draft.isVariable(value) || hasVariable(textOf(value) ?? ''))
      return report.lost(value, 'write a header with the encoded text: headers.authorization')
    const encoded = Buffer.from(textOf(value) ?? '').toString('base64')
    headers['authorization'] = `Basic ${draft.variable(draft.keep(encoded, `${name}_basic`))}`
  } else {
    const [header, before] = schemes[auth ?? 'bearer_token'] ?? []
    if (header === undefined) return report.lost(value, 'this kind of credential is not known; write a header')
    headers[header] = `${before}${draft.secret(value, `${name}_token`)}`
  }
  if (kind) report.mapped(kind, 'mcp_servers[].headers')
  report.mapped(value, 'mcp_servers[].headers')
}

function readFields({ entry, record, draft, report }: Server): void {
  const tools: Record<string, Json> = {}
  for (const [key, node] of membersOf(entry)) {
    const place = `mcp_servers[].${key}`
    if (report.has(node) || ['static_headers', 'headers', 'args', 'env'].includes(key)) continue
    if (isEmpty(node)) report.default(node, 'says nothing')
    else if (key === 'description') {
      record['description'] = escaped(textOf(node) ?? '').slice(0, 4096)
      report.mapped(node, place)
    } else if (key === 'allowed_tools' || key === 'disallowed_tools') {
      tools[key === 'allowed_tools' ? 'allow' : 'deny'] = textsIn(node).map(([text]) => escaped(text))
      report.mapped(node, 'mcp_servers[].tools')
    } else if (key === 'timeout') {
      const wait = secondsAsDuration(node)
      if (numberOf(node) === 0) report.default(node, noTimeout)
      else if (wait === undefined) report.lost(node, 'is no number of seconds')
      else {
        record['call_timeout'] = wait
        report.mapped(node, 'mcp_servers[].call_timeout')
      }
    } else if (key === 'extra_headers') report.lost(node, 'headers of clients are not passed on to servers')
    else if (key === 'access_groups' || key === 'mcp_access_groups')
      report.lost(node, 'give keys lists of servers: api_keys[].mcp_servers', 'limit')
    else if (key === 'allow_all_keys') report.default(node, 'keys may use servers over HTTP unless a list says which')
    else if (together.includes(key)) report.default(node, 'has no effect with this transport')
    else report.lost(node, 'there is no such setting of a server')
  }
  if (Object.keys(tools).length > 0) record['tools'] = tools
  if (draft.isVariable(at(entry, 'command'))) report.note('A program of an MCP server stands in a variable.')
}
