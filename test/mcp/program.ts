import { join } from 'node:path'
import { expect } from 'chai'
import type { McpRig } from '../support/mcp.ts'
import { until } from '../support/until.ts'

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

/** Opens a session with the program. It begins anew while the machine is too slow for a short `call_timeout`. */
export async function opened(rig: Pick<McpRig, 'post'>, server = 'docs'): Promise<string> {
  let session: string | null = null
  await until(async () => {
    const response = await rig.post(initialize(), { server })
    expect(response.status, await response.text()).to.be.oneOf([200, 504])
    session = response.headers.get('mcp-session-id')
    return session !== null
  })
  return session ?? ''
}

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
