import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { mayUse } from './mcp.ts'
import type { Server } from './mcp.ts'

declare module '../../engine/index.ts' {
  interface Slots {
    'mcp.server': Server
  }
}

/** Finds the server of the path. Whether another one exists is nothing that a key learns. */
export default defineStage({
  name: 'find-mcp-server',
  summary: 'Find the MCP server that the path names, if the API key may use it.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['mcp.server'],
  uses: ['mcp', 'api_keys'],
  build:
    (_config, _host, { mcp, api_keys: keys }) =>
    ({ ingress, principal }, scope) => {
      const { server_name: name = '' } = ingress.params
      const server = mcp.server(name)
      if (!server || !mayUse(keys.get(principal.id), server.record))
        throw new GatewayError('not_found', {}, { message: unknown })
      scope.note('server', server.record.name)
      return { 'mcp.server': server }
    },
})

const unknown = 'There is no such MCP server, or this API key may not use it.'
