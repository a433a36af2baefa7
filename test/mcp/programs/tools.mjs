// An MCP server over stdio, in plain JSON-RPC, whose tools do what tests need. It writes what it gets to standard error
// if TELL is set, and its process id if SHOW is set. The signal SIGUSR2 does what the tool "go" does.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
})
/** What waits for an answer of the client, by id. */
const asked = new Map()
/** Calls of the tool "wait", which the tool "go" answers. */
const waiting = []
let initialized = 0

const go = () => {
  for (const id of waiting.splice(0).reverse()) say({ id, result: text('went') })
}
process.on('SIGUSR2', go)

const tools = {
  echo: ({ value }) => text(value ?? null),
  facts: () =>
    text({
      arguments: process.argv.slice(2),
      environment: process.env,
      cwd: process.cwd(),
      pid: process.pid,
      initialized,
    }),
  wait: (_, { id }) => void waiting.push(id),
  go: () => {
    go()
    return text('gone')
  },
  progress: (_, { params }) => {
    for (const progress of [1, 2]) {
      const told = { progressToken: params._meta?.progressToken, progress, total: 2 }
      say({ method: 'notifications/progress', params: told })
    }
    return text('done')
  },
  log: ({ value }) => {
    say({ method: 'notifications/message', params: { level: 'info', data: value } })
    return text('logged')
  },
  changed: () => {
    say({ method: 'notifications/tools/list_changed' })
    return text('told')
  },
  ask: (_, { id }) => {
    asked.set('q1', (answer) => say({ id, result: text(answer) }))
    say({ id: 'q1', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } })
  },
  big: ({ size }) => text('x'.repeat(size)),
  // The number has more digits than a JavaScript number.
  exact: (_, { id }) =>
    void process.stdout.write(`{"jsonrpc":"2.0", "id":${JSON.stringify(id)},"result":{"n":12345678901234567890.10}}\n`),
  noise: () => {
    process.stdout.write('this is no message\n')
    console.error('a line of mine\nand another one')
    return text('made')
  },
  garbage: ({ lines }) => {
    process.stdout.write('no message\n'.repeat(lines))
    return text('made')
  },
  offspring: () => text(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }).pid),
  stubborn: () => {
    process.on('SIGTERM', () => undefined)
    setInterval(() => undefined, 1_000)
    return text('yes')
  },
  end: ({ code }) => void process.exit(code ?? 3),
}

const methods = {
  initialize: ({ params }) => {
    initialized += 1
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: 'tools', version: '1.2.3' },
      ...(process.env.INSTRUCTIONS ? { instructions: process.env.INSTRUCTIONS } : {}),
    }
  },
  ping: () => ({}),
  'tools/list': () => ({
    tools: Object.keys(tools).map((name) => ({
      name,
      description: `Does ${name}${process.env.MORE ?? ''}.`,
      inputSchema: { type: 'object' },
    })),
  }),
  'tools/call': (message) => tools[message.params.name](message.params.arguments ?? {}, message),
}

if (process.env.FAIL) process.exit(7)
if (process.env.SHOW) console.error(`process ${process.pid}`)
createInterface({ input: process.stdin }).on('line', (line) => {
  if (process.env.TELL) console.error(`got ${line}`)
  const message = JSON.parse(line)
  if (message.method === undefined) return asked.get(message.id)?.(message)
  if (message.id === undefined) return
  const method = methods[message.method]
  if (!method) return say({ id: message.id, error: { code: -32601, message: 'unknown' } })
  const result = method(message)
  if (result !== undefined) say({ id: message.id, result })
})
process.stdin.on('end', () => !process.env.DEAF && process.exit(0))
