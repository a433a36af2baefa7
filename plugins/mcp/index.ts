import { definePlugin, defineSlot } from '../../engine/index.ts'
import errors from './error-codes.ts'
import approveMcpTools from './approve-mcp-tools.ts'
import callMcpServer from './call-mcp-server.ts'
import checkOrigin from './check-origin.ts'
import codec from './codec.ts'
import endMcpSession from './end-mcp-session.ts'
import findMcpServer from './find-mcp-server.ts'
import findMcpSession from './find-mcp-session.ts'
import getMcpCapabilities from './get-mcp-capabilities.ts'
import getMcpStatus from './get-mcp-status.ts'
import mcpServer from './mcp-server.ts'
import mcpServers from './mcp-servers.ts'
import mcpTools from './mcp-tools.ts'
import mcp from './mcp.ts'
import openMcpStream from './open-mcp-stream.ts'
import readMessage from './read-message.ts'

export default definePlugin({
  name: 'mcp',
  summary: 'MCP servers behind the gateway.',
  stability: 'stable',
  errors,
  slots: [
    defineSlot({
      name: 'mcp.message',
      summary: 'The JSON-RPC message of a client of an MCP server.',
      fields: { kind: 'text', method: 'text' },
    }),
    defineSlot({ name: 'mcp.server', summary: 'The MCP server that the path names.' }),
    defineSlot({
      name: 'mcp.session',
      summary: 'The MCP session that the request belongs to.',
      fields: { stateless: 'boolean' },
    }),
  ],
  records: [mcpServer],
  codecs: [codec],
  services: [mcpServers, mcp, mcpTools],
  stages: [checkOrigin, readMessage, findMcpServer, findMcpSession, callMcpServer, openMcpStream, endMcpSession],
  actions: [getMcpStatus, getMcpCapabilities, approveMcpTools],
})
