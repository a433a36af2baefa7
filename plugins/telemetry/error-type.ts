import type { ToldCall, ToldExchange } from '../../engine/index.ts'
import { rowOf } from '../../engine/kit.ts'

/** What stands for all that others invent: the conventions' word. */
export const other = '_OTHER'

/** Codes of errors that JSON-RPC 2.0 and MCP (revision 2025-11-25) define; a server may answer with any other number. */
export const rpcCodes: readonly string[] = [
  -32_700, -32_600, -32_601, -32_602, -32_603, -32_000, -32_001, -32_002, -32_042,
].map(String)

/** The word of a tool that says itself that it has failed. */
export const toolError = 'tool_error'

/** An error code that somebody has declared; a provider may send any text as that of its error. */
export function errorType(code: string): string {
  return rowOf(code) === undefined ? other : code
}

/** How an exchange failed, from a bounded list. */
export function errorOfExchange({ result, error }: Pick<ToldExchange, 'result' | 'error'>): string | undefined {
  return result === 'client_closed' ? result : error && errorType(error.code)
}

/** How a call failed, from a bounded list: a status, a word, a code of ours, or one of JSON-RPC. */
export function errorOfCall(call: ToldCall, exchange: ToldExchange | undefined): string | undefined {
  const { status = 200, error, cancelled, rpc } = call
  const answered = rpc && errorOfAnswer(rpc)
  if (answered !== undefined) return answered
  if (status >= 400) return status < 600 ? String(status) : other
  if (error === undefined)
    return cancelled === true && exchange?.result === 'client_closed' ? 'client_closed' : undefined
  const tags = error.tags ?? []
  const known = tags.find((tag) => /^[45]\d\d$/.test(tag)) ?? ['timeout', 'connect'].find((word) => tags.includes(word))
  return known ?? (error.code === 'internal_error' ? other : errorType(error.code))
}

/** What the answer of an MCP server says itself. */
export function errorOfAnswer({ status, isToolError }: NonNullable<ToldCall['rpc']>): string | undefined {
  if (status !== undefined) return rpcCodes.includes(String(status)) ? String(status) : other
  return isToolError === true ? toolError : undefined
}
