import { join } from 'node:path'

/** The program of these tests, an MCP server whose tools do what tests need. */
export const program = join(import.meta.dirname, 'programs', 'tools.mjs')

/** The record of a server that runs the program. */
export const stdio = (name: string, more: object = {}) => ({
  name,
  transport: 'stdio',
  command: process.execPath,
  arguments: [program],
  ...more,
})

export const initialize = (version = '2025-11-25', id: unknown = 0) => ({
  jsonrpc: '2.0',
  id,
  method: 'initialize',
  params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
})

/** The call of a tool. */
export const call = (id: unknown, name: string, input: object = {}, meta?: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: input, ...(meta ? { _meta: meta } : {}) },
})

/** Whether a process runs. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
