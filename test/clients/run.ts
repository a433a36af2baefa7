// Lets real clients work through the gateway: a text round, a round with the client's own shell and a round with the tool
// of an MCP server behind the gateway, for each kind of upstream, and prints what passed.
//   npm run clients [-- --only codex] [-- --verbose]
// The first run installs the clients into a temporary folder. Besides that, everything stays on this machine.
import type { RequestsTable } from '../../plugins/request-log/table.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import { installClients } from './install.ts'
import { lookupServer } from './lookup-server.ts'
import { greeting, lookedUp, scriptedModel, seen, wantsLookup, wantsShell } from './model.ts'
import type { Kind } from './model.ts'
import type { At, Ran } from './pasted.ts'
import { claude, codex } from './rounds.ts'

const kinds: readonly Kind[] = ['responses', 'chat', 'messages']
const types = { responses: 'native', chat: 'compatible', messages: 'messages' }
const verbose = process.argv.includes('--verbose')
const only = process.argv.includes('--only') ? (process.argv[process.argv.indexOf('--only') + 1] ?? '') : ''

const installed = installClients()
const clients: Readonly<Record<string, (prompt: string, model: string, at: At) => Promise<Ran>>> = {
  'codex, server-sent events': (prompt, model, at) => codex(installed, prompt, model, at, false),
  'codex, WebSocket': (prompt, model, at) => codex(installed, prompt, model, at, true),
  'claude code': (prompt, model, at) => claude(installed, prompt, model, at),
}

const docs = await lookupServer()
const rows: Record<string, string>[] = []
for (const kind of kinds) {
  const upstream = await scriptedUpstream()
  upstream.answer(scriptedModel(kind))
  const gateway = await startGateway({
    providers: [{ name: 'vendor', type: types[kind], base_url: `${upstream.url}/v1`, api_key: 'upstream-key' }],
    models: [{ name: 'scripted', provider: 'vendor', ...(kind === 'responses' ? { protocols: ['responses'] } : {}) }],
    records: { mcp_servers: [{ name: 'docs', transport: 'http', url: docs.url, allow_private: true }] },
  })
  for (const client of Object.keys(clients).filter((name) => name.includes(only)))
    rows.push({
      client,
      upstream: kind,
      text: await round(client, gateway, 'Say hello.', greeting),
      shell: await round(client, gateway, `Please ${wantsShell}.`, seen(kind)),
      mcp: await round(client, gateway, `Please ${wantsLookup}.`, lookedUp),
    })
  await gateway.close()
  await upstream.close()
}
await docs.close()
console.table(rows)
process.exitCode = rows.every((row) => [row['text'], row['shell'], row['mcp']].every((one) => one === 'passed')) ? 0 : 1

/** One prompt, one client: what became of it. */
async function round(client: string, gateway: RunningGateway, prompt: string, expected: string): Promise<string> {
  const before = (await gateway.rows()).length
  const ran = await clients[client]?.(prompt, 'scripted', gateway)
  const requests = (await gateway.rows()).slice(before)
  const result = judge(client, ran, requests, expected)
  if (ran && (verbose || result !== 'passed')) {
    console.log(`--- ${client}, "${prompt}": exit ${ran.code}\n${ran.output}\n${ran.errors.slice(-4000)}`)
    for (const { type, status, error, metadata } of requests) console.log(type, status, error, metadata)
  }
  return result
}

function judge(client: string, ran: Ran | undefined, requests: readonly RequestsTable[], expected: string): string {
  if (ran?.code !== 0) return 'failed: it ended with an error'
  if (!ran.output.replace(/\s+/g, ' ').includes(expected)) return 'failed: it printed something else'
  // Clients first ask the MCP server for a later protocol than it speaks.
  if (requests.some(({ type, status }) => type !== 'mcp' && status >= 400)) return 'failed: a request was refused'
  // Only on a WebSocket does this client announce what it will ask.
  const announced = requests.some(({ metadata }) => metadata.includes('"prepared":true'))
  if (announced !== client.endsWith('WebSocket')) return 'failed: it took the other transport'
  return 'passed'
}
