import { GatewayError } from '../../engine/index.ts'
import type { Ingress } from '../../engine/index.ts'
import { claimedVersion } from './message.ts'
import type { Message, RequestMessage } from './message.ts'

/** The revision without sessions. */
export const statelessVersion = '2026-07-28'
/** The revisions with sessions. */
const sessionVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const

type Headers = Ingress['headers']

/** What can be asked of a server. */
export interface Served {
  /** Whether it is reached in a way that the revision without sessions can take. */
  readonly stateless: boolean
  /** The versions that it has said it speaks; undefined: it has not. */
  readonly versions: readonly string[] | undefined
}

/**
 * Whether a message is of the revision without sessions, which the message or its headers say. Throws
 * `unsupported_protocol_version`, `header_mismatch` and `invalid_params` for headers that name no version of either
 * kind, or that differ from the message.
 */
export function isStateless(message: Message, headers: Headers, served: Served): boolean {
  const named = headerOf(headers, 'mcp-protocol-version')
  const claimed = claimedVersion(message)
  const isOlder = claimed !== undefined && isSessionVersion(claimed)
  if (named !== statelessVersion && (claimed === undefined || isOlder)) {
    const begins = message.kind === 'request' && message.method === 'initialize'
    if (named !== undefined && !begins && !isSessionVersion(named)) throw unsupported(named, served)
    return false
  }
  if (message.kind === 'request') checkRequest(message, headers, { named, claimed })
  else if (message.kind === 'response') throw new GatewayError('invalid_request', { reason: noAnswers })
  else if (claimed !== undefined && named !== claimed) throw mismatch(versionDiffers)
  const version = claimed ?? statelessVersion
  if (version !== statelessVersion || !served.stateless) throw unsupported(version, served)
  return true
}

/** Whether a request without a message, such as a GET, is of the revision without sessions. Throws `unsupported_protocol_version`. */
export function namesStateless(headers: Headers, served: Served): boolean {
  const named = headerOf(headers, 'mcp-protocol-version')
  if (named === statelessVersion) return true
  if (named !== undefined && !isSessionVersion(named)) throw unsupported(named, served)
  return false
}

function isSessionVersion(version: string): boolean {
  return sessionVersions.some((one) => one === version)
}

const noAnswers = `In revision ${statelessVersion}, servers send no requests, so clients send no answers.`
const versionDiffers = 'mcp-protocol-version is another version than that of the message'

interface Versions {
  readonly named: string | undefined
  readonly claimed: string | undefined
}

/** Checks what must stand in the headers as in the message (MCP 2026-07-28, basic/transports). */
function checkRequest(message: RequestMessage, headers: Headers, { named, claimed }: Versions): void {
  if (named === undefined) throw mismatch('mcp-protocol-version is missing')
  if (claimed === undefined) {
    if (message.method === 'initialize') throw mismatch('initialize belongs to revisions with sessions')
    const reason = 'The member params._meta["io.modelcontextprotocol/protocolVersion"] is missing.'
    throw new GatewayError('invalid_params', { reason })
  }
  if (named !== claimed) throw mismatch(versionDiffers)
  const method = headerOf(headers, 'mcp-method')
  if (method === undefined) throw mismatch('mcp-method is missing')
  if (method !== message.method) throw mismatch('mcp-method is another method than that of the message')
  checkName(message, headerOf(headers, 'mcp-name'))
}

/** The parameter that `mcp-name` repeats, by method. */
const nameParameters = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

function checkName({ method, params }: RequestMessage, header: string | undefined): void {
  const parameter = nameParameters.get(method)
  if (parameter === undefined) return
  const value = params[parameter]
  if (header === undefined) {
    if (typeof value === 'string') throw mismatch('mcp-name is missing')
    return
  }
  const decoded = decodedHeader(header)
  if (decoded === undefined) throw mismatch('mcp-name is not encoded correctly')
  if (decoded !== value) throw mismatch(`mcp-name is another value than params.${parameter}`)
}

/** A value that a header cannot hold is encoded: `=?base64?…?=`. Undefined: the encoding is not valid. */
export function decodedHeader(header: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/i.exec(header) ?? []
  if (encoded === undefined) return header
  const bytes = Buffer.from(encoded, 'base64')
  const text = bytes.toString()
  return bytes.toString('base64') === encoded && Buffer.from(text).equals(bytes) ? text : undefined
}

function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value.trim() : undefined
}

function mismatch(reason: string): GatewayError {
  return new GatewayError('header_mismatch', { reason })
}

/** Names the versions that pass the gateway, and of these those that the server speaks, as far as it has said so. */
function unsupported(version: string, { stateless, versions }: Served): GatewayError {
  const passing = stateless ? [statelessVersion, ...sessionVersions] : [...sessionVersions]
  const spoken = passing.filter((one) => versions?.includes(one) !== false)
  const supported = spoken.length > 0 ? spoken : passing
  const shown = version.slice(0, 64)
  return new GatewayError(
    'unsupported_protocol_version',
    { version: shown },
    { details: { supported, requested: shown } },
  )
}
