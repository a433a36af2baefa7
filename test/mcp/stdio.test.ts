import { expect } from 'chai'
import { keyFor, startAdmin } from '../support/admin.ts'
import { EventReader } from '../support/mcp-events.ts'
import { bothTypes, otherKey, startMcp } from '../support/mcp.ts'
import type { Calling, McpRig, Rpc } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { call, initialize, isAlive, program, stdio as plain } from './program.ts'

const stdio = (name: string, more: object = {}) =>
  plain(name, { arguments: [program, 'an argument; with $signs'], ...more })
const allowed = { command: process.execPath, arguments: [program, '*'], environment: ['MORE'] }
/** The text that a tool answers with. */
function textOf(message: Rpc | undefined): string {
  const { result } = message as { readonly result?: { readonly content: readonly { readonly text: string }[] } }
  if (!result) throw new Error(`no result: ${JSON.stringify(message)}`)
  return result.content[0]?.text ?? ''
}

describe('mcp/stdio', function () {
  this.timeout(300_000)
  let rig: McpRig

  before(async () => {
    rig = await startMcp(
      {},
      {
        records: {
          mcp_servers: [
            stdio('docs', { environment: { TOKEN: 'a token of the server' }, cwd: import.meta.dirname }),
            stdio('shared', { shared: true, environment: { TELL: 'yes' } }),
            stdio('quick', { call_timeout: '250ms' }),
            stdio('failing', { environment: { FAIL: 'yes' }, restarts: 2 }),
            stdio('absent', { command: '/no/such/program' }),
            stdio('deaf', { environment: { DEAF: 'yes' } }),
            stdio('filtered', { tools: { allow: ['echo', 'facts'], deny: ['facts'] } }),
          ],
        },
      },
    )
  })
  after(() => rig.close())
  const begun: Calling[] = []
  afterEach(async () => {
    for (const session of begun.splice(0)) await rig.delete(session)
  })

  const begin = async (calling: Calling = {}, version?: string) => {
    const response = await rig.post(initialize(version), calling)
    expect(response.status, await response.clone().text()).to.equal(200)
    await response.text()
    const session = response.headers.get('mcp-session-id') ?? ''
    await rig.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { ...calling, session })
    begun.push({ ...calling, session })
    return { ...calling, session }
  }
  const stream = async (message: Rpc, calling: Calling) => {
    const response = await rig.post(message, calling)
    expect(response.status, response.ok ? '' : await response.text()).to.equal(200)
    expect(response.headers.get('content-type')).to.include('text/event-stream')
    return new EventReader(response)
  }
  const listen = async (calling: Calling, last?: string) => {
    const response = await rig.get({
      ...calling,
      ...(last === undefined ? {} : { headers: { 'last-event-id': last } }),
    })
    expect(response.status, response.ok ? '' : await response.text()).to.equal(200)
    return new EventReader(response)
  }
  const answer = async (message: Rpc, calling: Calling) => (await (await stream(message, calling)).rest()).at(-1)
  const facts = async (calling: Calling) =>
    JSON.parse(textOf(await answer(call('facts', 'facts'), calling))) as {
      readonly arguments: readonly string[]
      readonly environment: Record<string, string>
      readonly cwd: string
      readonly pid: number
      readonly initialized: number
    }

  it('a session is opened by the program, which sees what the client said', async () => {
    const response = await rig.post(initialize('2025-06-18', 'first'))
    expect(response.headers.get('content-type')).to.include('application/json')
    expect(response.headers.get('mcp-session-id')).to.match(/^[\w-]{43}$/)
    expect(await response.json()).to.deep.equal({
      jsonrpc: '2.0',
      id: 'first',
      result: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: true }, logging: {} },
        serverInfo: { name: 'tools', version: '1.2.3' },
      },
    })
  })

  it('the program runs without a shell, in its folder, with PATH and its own environment alone', async () => {
    process.env['SECRET_OF_THE_GATEWAY'] = 'secret'
    const { environment, arguments: words, cwd } = await facts(await begin())
    delete process.env['SECRET_OF_THE_GATEWAY']
    // macOS adds a variable of its own.
    delete environment['__CF_USER_TEXT_ENCODING']
    expect(environment).to.deep.equal({ PATH: process.env['PATH'], TOKEN: 'a token of the server' })
    expect(words).to.deep.equal(['an argument; with $signs'])
    expect(cwd).to.equal(import.meta.dirname)
  })

  it('each session has a process of its own, which ends with it', async () => {
    const [one, two] = [await begin(), await begin({ key: otherKey })]
    const [first, second] = [await facts(one), await facts(two)]
    expect(first.pid).to.not.equal(second.pid)
    expect((await rig.delete(one)).status).to.equal(200)
    expect(isAlive(first.pid)).to.equal(false)
    expect(isAlive(second.pid)).to.equal(true)
    expect((await rig.post(call(1, 'echo'), one)).status).to.equal(404)
    expect((await rig.delete(one)).status).to.equal(404)
    await rig.delete(two)
  })

  it('what a program has started ends with it, even if it does not want to', async () => {
    const session = await begin({ server: 'deaf' })
    const offspring = Number(textOf(await answer(call(1, 'offspring'), session)))
    await answer(call(2, 'stubborn'), session)
    const { pid } = await facts(session)
    expect([isAlive(offspring), isAlive(pid)]).to.deep.equal([true, true])
    await rig.delete(session)
    await until(() => !isAlive(pid) && !isAlive(offspring))
  })

  it('a stream begins with an event that can be resumed, and each event has an id', async () => {
    const reader = await stream(call(1, 'echo', { value: 'a\r\nb\t' }), await begin())
    const primer = await reader.next()
    expect(primer).to.deep.equal({ id: '1-0', retry: '1000', data: '' })
    const event = await reader.next()
    expect(event).to.include({ id: '1-1', event: 'message' })
    expect(textOf(JSON.parse(event?.data ?? '') as Rpc)).to.equal('a\r\nb\t')
    expect(await reader.next()).to.equal(undefined)
  })

  it('clients of earlier revisions get no event without data', async () => {
    const reader = await stream(call(1, 'echo', { value: 'a' }), await begin({}, '2025-06-18'))
    expect(await reader.next()).to.include({ id: '1-1', event: 'message' })
    expect(await reader.next()).to.equal(undefined)
  })

  it('messages pass without a change of their numbers, and may have line ends', async () => {
    const session = await begin()
    const body = '{"jsonrpc":"2.0",\r\n"id":9,\n"method":"tools/call","params":{"name":"exact"}}'
    const response = await rig.post(body, session)
    expect(await response.text()).to.include('data: {"jsonrpc":"2.0", "id":9,"result":{"n":12345678901234567890.10}}\n')
  })

  it('progress goes to the request with its token, in whatever order, and logs to the stream without a request', async () => {
    const session = await begin()
    const others = await listen(session)
    const waiting = await stream(call('1', 'wait', {}, { progressToken: 1 }), session)
    const reader = await stream(call(1, 'progress', {}, { progressToken: '1' }), session)
    const progress = (value: number) => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: '1', progress: value, total: 2 },
    })
    expect(await reader.message()).to.deep.equal(progress(1))
    expect(await reader.message()).to.deep.equal(progress(2))
    expect(textOf(await reader.message())).to.equal('done')
    expect((await (await stream(call(2, 'log', { value: 'noted' }), session)).rest()).length).to.equal(1)
    expect(await others.message()).to.deep.include({ method: 'notifications/message' })
    await answer(call(3, 'go'), session)
    expect((await waiting.rest()).map(textOf)).to.deep.equal(['went'])
    await others.leave()
  })

  it('answers go to their requests, also when they come in another order', async () => {
    const session = await begin()
    const readers = await Promise.all([1, '1', 'b'].map((id) => stream(call(id, 'wait'), session)))
    await answer(call('go', 'go'), session)
    const ids = await Promise.all(readers.map(async (reader) => (await reader.rest()).map(({ id }) => id)))
    expect(ids).to.deep.equal([[1], ['1'], ['b']])
  })

  it('a request of the program goes to the newest request in flight, though no other stream is open', async () => {
    const session = await begin()
    const older = await stream(call(1, 'wait'), session)
    const reader = await stream(call(2, 'ask'), session)
    expect(await reader.message()).to.deep.equal({
      jsonrpc: '2.0',
      id: 'q1',
      method: 'sampling/createMessage',
      params: { messages: [], maxTokens: 1 },
    })
    const response = await rig.post({ jsonrpc: '2.0', id: 'q1', result: { words: 'fine' } }, session)
    expect([response.status, await response.text()]).to.deep.equal([202, ''])
    expect(textOf(await reader.message())).to.include('"words":"fine"')
    await answer(call(3, 'go'), session)
    expect((await older.rest()).length).to.equal(1)
  })

  it('what belongs to no request waits for its stream, of which there is one', async () => {
    const session = await begin()
    await answer(call(1, 'log', { value: 'early' }), session)
    const others = await listen(session)
    expect(await others.message()).to.deep.include({ params: { level: 'info', data: 'early' } })
    expect((await rig.get(session)).status).to.equal(409)
    await answer(call(2, 'changed'), session)
    expect(await others.message()).to.deep.include({ method: 'notifications/tools/list_changed' })
    await others.leave()
  })

  it('a stream that was left is resumed by its last event, and brings nothing of other streams', async () => {
    const session = await begin()
    const left = await stream(call('left', 'wait'), session)
    const primer = await left.next()
    await left.leave()
    const other = await stream(call('other', 'wait'), session)
    const seen = await other.next()
    await answer(call('go', 'go'), session)
    expect((await other.rest()).map(({ id }) => id)).to.deep.equal(['other'])
    const resumed = await listen(session, primer?.id)
    expect((await resumed.rest()).map(({ id }) => id)).to.deep.equal(['left'])
    // It may be resumed again.
    expect((await (await listen(session, seen?.id)).rest()).map(({ id }) => id)).to.deep.equal(['other'])
    expect((await rig.get({ ...session, headers: { 'last-event-id': '99-1' } })).status).to.equal(400)
    expect((await rig.get({ ...session, headers: { 'last-event-id': 'x' } })).status).to.equal(400)
  })

  it('what was kept for too long is gone', async () => {
    const session = await begin()
    const left = await stream(call('left', 'wait'), session)
    const primer = await left.next()
    await left.leave()
    await answer(call('go', 'go'), session)
    for (let round = 0; round < 6; round++) await answer(call(round, 'big', { size: 1_000_000 }), session)
    expect((await rig.get({ ...session, headers: { 'last-event-id': primer?.id ?? '' } })).status).to.equal(400)
  })

  it('a cancelled request is not answered, and its id is free again', async () => {
    const session = await begin()
    const reader = await stream(call(1, 'wait'), session)
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    expect((await rig.post(cancelled, session)).status).to.equal(202)
    expect(await reader.rest()).to.deep.equal([])
    expect(textOf(await answer(call(1, 'echo', { value: 'again' }), session))).to.equal('again')
  })

  it('a program that is silent for too long fails the call alone', async () => {
    const session = await begin({ server: 'quick' })
    const late = await answer(call(1, 'wait'), session)
    expect(late).to.deep.include({
      id: 1,
      error: { code: -32603, message: 'The MCP server "quick" did not answer in time.' },
    })
    expect(textOf(await answer(call(2, 'echo', { value: 'on' }), session))).to.equal('on')
  })

  it('a program that ends answers every request in flight with an error, and its session is unknown then', async () => {
    const session = await begin()
    const others = await listen(session)
    const readers = await Promise.all(['a', 2].map((id) => stream(call(id, 'wait'), session)))
    const ending = await stream(call('end', 'end', { code: 3 }), session)
    for (const [reader, id] of [
      ...readers.map((reader, at) => [reader, ['a', 2][at]] as const),
      [ending, 'end'] as const,
    ]) {
      const [message, ...more] = await reader.rest()
      const error = { code: -32603, message: 'The MCP server "docs" is gone: it ended with code 3.' }
      expect([message, more]).to.deep.equal([{ jsonrpc: '2.0', id, error }, []])
    }
    expect(await others.rest()).to.deep.equal([])
    expect((await rig.post(call(1, 'echo'), session)).status).to.equal(404)
    expect((await rig.get(session)).status).to.equal(404)
    expect(rig.gateway.lines.join()).to.include('an MCP server has ended')
  })

  it('a program that cannot begin is 502, and is not started again and again', async () => {
    const refused = async (server: string) => {
      const response = await rig.post(initialize('2025-11-25', 'i'), { server })
      const { error, id } = (await response.json()) as {
        readonly error: { readonly message: string }
        readonly id: unknown
      }
      expect([response.status, response.headers.get('mcp-session-id'), id]).to.deep.equal([502, null, 'i'])
      return error.message
    }
    expect(await refused('absent')).to.equal('The MCP server "absent" is gone: it cannot be started (ENOENT).')
    for (let times = 0; times < 3; times++)
      expect(await refused('failing')).to.equal('The MCP server "failing" is gone: it ended with code 7.')
    expect(await refused('failing')).to.equal(
      'The MCP server "failing" has ended 3 times in a minute, and is not started for now.',
    )
  })

  it('its standard error is logged by line; what is no message is left out', async () => {
    const session = await begin()
    expect(textOf(await answer(call(1, 'noise'), session))).to.equal('made')
    const lines = () => rig.gateway.lines.map((line) => JSON.parse(line) as Rpc)
    await until(() => lines().some(({ line }) => line === 'and another one'))
    expect(lines().find(({ line }) => line === 'a line of mine')).to.include({ mcp_server: 'docs', level: 'info' })
    expect(lines().find(({ line }) => line === 'this is no message')).to.include({ mcp_server: 'docs', level: 'warn' })
  })

  it('tools are filtered as those of other servers', async () => {
    const session = await begin({ server: 'filtered' })
    const listed = await answer({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, session)
    const { result } = listed as { readonly result: { readonly tools: readonly Rpc[] } }
    expect(result.tools.map(({ name }) => name)).to.deep.equal(['echo'])
    expect(await (await rig.post(call(2, 'facts'), session)).json()).to.have.nested.property('error.code', -32602)
  })

  it('sessions of a shared program have equal ids and tokens, and each gets its own', async () => {
    const [one, two] = [await begin({ server: 'shared' }), await begin({ server: 'shared', key: otherKey })]
    const [first, second] = [await facts(one), await facts(two)]
    expect(first.pid).to.equal(second.pid)
    // The program is initialized once.
    expect([first.initialized, second.initialized]).to.deep.equal([1, 1])
    const [waiting, alike] = [await stream(call(1, 'wait'), one), await stream(call(1, 'wait'), two)]
    const calls = [one, two].map(async (session, at) =>
      (await stream(call('p', 'progress', {}, { progressToken: 't' }), session))
        .rest()
        .then((all) => [at, all] as const),
    )
    for (const [, all] of await Promise.all(calls)) {
      expect(all.map(({ id, params }) => id ?? (params as Rpc)['progressToken'])).to.deep.equal(['t', 't', 'p'])
    }
    await answer(call(1.5, 'go'), two)
    expect((await waiting.rest()).map(({ id }) => id)).to.deep.equal([1])
    expect((await alike.rest()).map(({ id }) => id)).to.deep.equal([1])
    // It ends with its last session.
    await rig.delete(one)
    expect(isAlive(first.pid)).to.equal(true)
    await rig.delete(two)
    expect(isAlive(first.pid)).to.equal(false)
  })

  it('a shared program asks the only client that it can mean, and no other answers', async () => {
    const [one, two] = [await begin({ server: 'shared' }), await begin({ server: 'shared' })]
    const asking = await stream(call(1, 'ask'), one)
    expect(await asking.message()).to.deep.include({ id: 'q1', method: 'sampling/createMessage' })
    await rig.post({ jsonrpc: '2.0', id: 'q1', result: { from: 'two' } }, two)
    await rig.post({ jsonrpc: '2.0', id: 'q1', result: { from: 'one' } }, one)
    expect(textOf(await asking.message())).to.include('"from":"one"')
    // With two clients that wait, it cannot be told whom the program means.
    const waiting = await stream(call(2, 'wait'), two)
    expect(textOf(await answer(call(3, 'ask'), one))).to.include('-32601')
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } }
    await rig.post(cancelled, two)
    expect(await waiting.rest()).to.deep.equal([])
    await Promise.all([one, two].map((session) => rig.delete(session)))
  })

  it('a change of its record ends its sessions; every other change keeps them', async () => {
    const admin = await startAdmin({
      records: { mcp: { allow_stdio: [allowed] } },
    })
    const at = '/api/mcp/servers'
    let key = ''
    const post = (server: string, message: Rpc, session?: string) =>
      fetch(`${admin.url}/servers/${server}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          accept: bothTypes,
          'content-type': 'application/json',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify(message),
      })
    const started = async (server: string) => {
      const response = await post(server, initialize())
      await response.text()
      const session = response.headers.get('mcp-session-id') ?? ''
      const told = new EventReader(await post(server, call(1, 'facts'), session))
      const { pid } = JSON.parse(textOf(await told.message())) as { readonly pid: number }
      return { session, pid }
    }
    try {
      for (const name of ['stays', 'changes']) {
        const made = await admin.asAdmin(`POST ${at}`, stdio(name))
        expect(made.status, JSON.stringify(made.body)).to.equal(201)
      }
      key = await keyFor(admin, 'stays', 'changes')
      const [stays, changes] = [await started('stays'), await started('changes')]
      const waiting = new EventReader(await post('changes', call(2, 'wait'), changes.session))
      const changed = await admin.asAdmin(`PATCH ${at}/changes`, { environment: { MORE: ' more' } })
      expect(changed.status, JSON.stringify(changed.body)).to.equal(200)
      const [message] = await waiting.rest()
      expect(message).to.have.nested.property(
        'error.message',
        'The MCP server "changes" is gone: its configuration has changed.',
      )
      await until(() => !isAlive(changes.pid))
      expect((await post('changes', call(1, 'echo'), changes.session)).status).to.equal(404)
      await admin.asAdmin(`PATCH ${at}/stays`, { description: 'new', tools: { deny: ['go'] }, restarts: 0 })
      expect((await post('stays', call(1, 'echo'), stays.session)).status).to.equal(200)
      expect((await admin.asAdmin(`DELETE ${at}/stays`)).status).to.equal(204)
      await until(() => !isAlive(stays.pid))
      expect((await post('stays', call(1, 'echo'), stays.session)).status).to.equal(404)
    } finally {
      await admin.close()
    }
  })

  it('a stopped gateway leaves no process', async () => {
    const other = await startMcp(
      {},
      { records: { mcp_servers: [stdio('docs'), stdio('deaf', { environment: { DEAF: 'y' } })] } },
    )
    const pids: number[] = []
    try {
      for (const server of ['docs', 'deaf']) {
        const response = await other.post(initialize(), { server })
        await response.text()
        const session = response.headers.get('mcp-session-id') ?? ''
        const told = new EventReader(await other.post(call(1, 'facts'), { server, session }))
        const { pid } = JSON.parse(textOf(await told.message())) as { readonly pid: number }
        pids.push(pid)
      }
      expect(pids.every(isAlive)).to.equal(true)
    } finally {
      await other.close()
    }
    expect(pids.map(isAlive)).to.deep.equal([false, false])
  })
})
