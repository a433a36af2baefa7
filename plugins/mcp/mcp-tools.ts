import { defineService } from '../../engine/index.ts'
import { ChangePoll } from '../../engine/kit.ts'
import type { Services } from '../../engine/index.ts'
import { ToolPins } from './tool-pins.ts'
import { migrations } from './tools-table.ts'

declare module '../../engine/index.ts' {
  interface Services {
    mcp_tools: ToolPins
  }
}

/** Milliseconds between two looks at what other processes have changed. */
const poll = 1_000

export default defineService({
  name: 'mcp_tools',
  summary: 'Remembers the tools of MCP servers, and notices when they change.',
  uses: ['mcp', 'audit'],
  migrations,
  open(host) {
    let audit: Services['audit'] | undefined
    const pins = new ToolPins(host, () => audit)
    const following = new ChangePoll({
      poll: () => pins.read(),
      changed: () => undefined,
      unknown: 'tools of MCP servers that were approved elsewhere are not known',
    })
    let polling: NodeJS.Timeout | undefined
    return {
      async configure(_settings, { mcp, audit: trail }, { records }) {
        audit ??= trail
        const { tool_changes: mode } = mcp.settings
        const isUsed = mode !== 'ignore' && records.of('mcp_server').length > 0
        if (isUsed) {
          await pins.read()
          mcp.reviewTools({
            listed(server, tools) {
              pins.see(server, tools)
              return new Set(mode === 'refuse' ? pins.changed(server) : [])
            },
            refuses: (server, tool) => mode === 'refuse' && pins.hasChanged(server, tool),
          })
        }
        return {
          view: pins,
          live() {
            audit = trail
            clearInterval(polling)
            if (isUsed) polling = setInterval(() => void following.look(), poll).unref()
          },
        }
      },
      async witness(transaction, { type, name, after }) {
        if (type === 'mcp_server' && after === undefined) await pins.forget(transaction, name)
      },
      status: () => following.problem,
      async close() {
        clearInterval(polling)
        await pins.written()
      },
    }
  },
})
