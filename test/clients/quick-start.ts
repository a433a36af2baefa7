// Does what the quick start of the console says, client by client: each text is pasted as it is shown into an empty home,
// and the client must print what the model behind the gateway said.
//   npm run clients:quick-start [-- --only qwen] [-- --verbose]
// The first run installs the clients and Python's packages into a temporary folder.
import { clients } from '../../console/src/quick-start/index.ts'
import type { Client } from '../../console/src/quick-start/index.ts'
import { startGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import { installClients, installWheels } from './install.ts'
import { lookupServer } from './lookup-server.ts'
import { greeting, scriptedModel } from './model.ts'
import { runPasted } from './pasted.ts'
import { quiet, settings } from './rounds.ts'

const verbose = process.argv.includes('--verbose')
const only = process.argv.includes('--only') ? (process.argv[process.argv.indexOf('--only') + 1] ?? '') : ''

const installed = installClients()
installWheels()
const docs = await lookupServer()
const upstream = await scriptedUpstream()
upstream.answer(scriptedModel('chat'))
const gateway = await startGateway({
  providers: [{ name: 'vendor', type: 'compatible', base_url: `${upstream.url}/v1`, api_key: 'upstream-key' }],
  models: [{ name: 'scripted', provider: 'vendor' }],
  records: { mcp_servers: [{ name: 'docs', transport: 'http', url: docs.url, allow_private: true }] },
})
/** Lines instead of a client's own, where it would ask a person: in a folder that it does not trust yet. */
const checks: Readonly<Record<string, string>> = {
  codex: 'codex exec --skip-git-repo-check "Say hello."',
  mcp: 'claude -p "Please look the number up." --mcp-config .mcp.json --allowed-tools mcp__docs__lookup',
}

const further: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  mcp: { ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_API_KEY: gateway.key, ANTHROPIC_MODEL: 'scripted' },
  // It asks its proxy for every address.
  'qwen-code': { HTTP_PROXY: '', HTTPS_PROXY: '', ALL_PROXY: '' },
}

const rows: Record<string, string>[] = []
for (const client of clients.filter(({ id }) => id.includes(only))) rows.push(await tried(client))
await gateway.close()
await upstream.close()
await docs.close()
console.table(rows)
process.exitCode = rows.every(({ result }) => result === 'passed') ? 0 : 1

async function tried(client: Client): Promise<{ client: string; result: string }> {
  const around = {
    ...installed,
    environment: { ...quiet, ...further[client.id] },
    before: client.id === 'codex' ? { '~/.codex/config.toml': settings } : {},
  }
  const ran = await runPasted(client, gateway, 'scripted', around, checks[client.id])
  const said = ran.output.replace(/\s+/g, ' ')
  const result = ran.code === 0 && (said.includes(greeting) || said.includes('The server said')) ? 'passed' : 'failed'
  if (verbose || result === 'failed')
    console.log(`--- ${client.title}: exit ${ran.code}\n${ran.output}\n${ran.errors.slice(-4000)}`)
  return { client: client.title, result }
}
