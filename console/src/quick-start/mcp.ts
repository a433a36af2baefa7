import { keyVariable } from './client.ts'
import type { Client } from './client.ts'
import { literal } from './literals.ts'

/** A server for MCP clients; `docs` stands for the name of a server of the gateway. */
export const mcp: Client = {
  id: 'mcp',
  title: 'MCP',
  install: null,
  pastes: [
    {
      path: '.mcp.json',
      language: 'json',
      text: ({ origin }) =>
        `${JSON.stringify(
          {
            mcpServers: {
              docs: {
                type: 'http',
                url: `${origin}/servers/docs/mcp`,
                headers: { Authorization: `Bearer \${${keyVariable}}` },
              },
            },
          },
          null,
          2,
        )}\n`,
    },
    {
      path: '~/.codex/config.toml',
      language: 'toml',
      text: ({ origin }) => `[mcp_servers.docs]
url = ${literal(`${origin}/servers/docs/mcp`)}
bearer_token_env_var = "${keyVariable}"
`,
    },
  ],
  check: () => 'claude mcp list',
}
