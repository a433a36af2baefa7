import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { startSdkServer } from '../support/mcp-sdk.ts'
import type { SdkServer } from '../support/mcp-sdk.ts'
import { until } from '../support/until.ts'

const first = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text

describe('mcp/clients', () => {
  let server: SdkServer
  let gateway: RunningGateway
  const clients: Client[] = []
  before(async () => {
    server = await startSdkServer()
    gateway = await startGateway({
      records: {
        mcp_servers: [
          { name: 'sdk', transport: 'http', url: `${server.url}/mcp`, tools: { deny: ['secret'] } },
          { name: 'stateless', transport: 'http', url: `${server.url}/stateless`, tools: { deny: ['secret'] } },
        ],
      },
    })
  })
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close()
  })
  after(async () => {
    await gateway.close()
    await server.close()
  })

  const connect = async (name: string, options: ConstructorParameters<typeof Client>[1] = {}) => {
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      { capabilities: { sampling: {}, elicitation: {}, roots: {} }, ...options },
    )
    const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/servers/${name}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${gateway.key}` } },
    })
    await client.connect(transport)
    clients.push(client)
    return { client, transport }
  }

  it('the official client lists, calls and reads', async () => {
    const { client } = await connect('sdk')
    expect(client.getServerVersion()).to.include({ name: 'sdk' })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).to.deep.equal(['echo', 'ask-model', 'ask-user', 'count'])
    expect(first(await client.callTool({ name: 'echo', arguments: { text: 'héllo' } }))).to.equal('héllo')
    const { contents } = await client.readResource({ uri: 'note://one' })
    expect(contents[0]).to.include({ text: 'a note' })
    const refused = await client.callTool({ name: 'secret', arguments: {} }).catch((error: unknown) => error)
    expect(refused).to.include({ code: -32602 })
  })

  it('requests of the server reach the client, and its answers the server', async () => {
    const { client } = await connect('sdk')
    client.setRequestHandler('sampling/createMessage', () => ({
      model: 'tiny',
      role: 'assistant',
      content: { type: 'text', text: 'yes' },
    }))
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ann' } }))
    expect(first(await client.callTool({ name: 'ask-model', arguments: { question: 'really?' } }))).to.equal(
      'asked tiny',
    )
    expect(first(await client.callTool({ name: 'ask-user', arguments: {} }))).to.equal('accept {"name":"Ann"}')
  })

  it('progress and log messages arrive', async () => {
    const { client } = await connect('sdk')
    const progress: number[] = []
    const logged: unknown[] = []
    client.setNotificationHandler('notifications/message', ({ params }) => void logged.push(params.data))
    const onprogress = (step: { progress: number }) => void progress.push(step.progress)
    expect(first(await client.callTool({ name: 'count', arguments: {} }, { onprogress }))).to.equal('3')
    expect(progress).to.deep.equal([1, 2, 3])
    await until(() => logged.length > 0)
    expect(logged).to.deep.equal(['counted'])
  })

  it('what the server says of itself arrives on the stream of the session, and only there', async () => {
    const one = await connect('sdk')
    const [own = ''] = [...server.sessions.keys()].slice(-1)
    const two = await connect('sdk')
    const changed: string[] = []
    one.client.setNotificationHandler('notifications/tools/list_changed', () => void changed.push('one'))
    two.client.setNotificationHandler('notifications/tools/list_changed', () => void changed.push('two'))
    // The streams are open once messages arrive.
    await until(async () => {
      server.sessions.get(own)?.sendToolListChanged?.()
      return changed.length > 0
    })
    expect(new Set(changed)).to.deep.equal(new Set(['one']))
  })

  it('a client that ends its session ends it at the server', async () => {
    const before = server.sessions.size
    const { client, transport } = await connect('sdk')
    expect(server.sessions.size).to.equal(before + 1)
    expect([...server.sessions.keys()]).to.not.include(transport.sessionId)
    await transport.terminateSession()
    expect(server.sessions.size).to.equal(before)
    await client.close()
  })

  it('the stateless revision passes through', async () => {
    const { client, transport } = await connect('stateless', { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    expect(transport.sessionId).to.equal(undefined)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name))
      .to.include('echo')
      .and.to.not.include('secret')
    expect(first(await client.callTool({ name: 'echo', arguments: { text: 'hi' } }))).to.equal('hi')
    const refused = await client.callTool({ name: 'secret', arguments: {} }).catch((error: unknown) => error)
    expect(refused).to.include({ code: -32602 })
  })
})
