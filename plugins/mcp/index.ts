import { definePlugin } from '../../engine/index.ts'
import mcpServer from './mcp-server.ts'
import mcpServers from './mcp-servers.ts'

export default definePlugin({
  name: 'mcp',
  summary: 'MCP servers behind the gateway.',
  records: [mcpServer],
  services: [mcpServers],
})
