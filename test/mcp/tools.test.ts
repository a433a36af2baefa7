import { expect } from 'chai'
import { events, result, speaking, startMcp } from '../support/mcp.ts'
import type { McpRig, Rpc } from '../support/mcp.ts'

const list: Rpc = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: {} }
const call = (name: unknown): Rpc => ({
  jsonrpc: '2.0',
  id: 8,
  method: 'tools/call',
  params: { name, arguments: { a: 1 } },
})
const tool = (name: string, more = '') =>
  `{"name":"${name}", "inputSchema":{"type":"object","2":1.0,"1":12345678901234567890}${more}}`

/** An answer as a server might write it. */
const listed = (...tools: string[]) =>
  `{"jsonrpc":"2.0","id":7,"result":{"nextCursor":"c","ttlMs":1.50,"tools":[${tools.join(',')}],"_meta":{"x":1e3}}}`
/** The same answer without spaces. */
const tight = (text: string) => text.replaceAll(', ', ',')
const json = { 'content-type': 'application/json' }

describe('mcp/tools', () => {
  let rig: McpRig
  let session: string
  afterEach(() => rig.close())

  const start = async (record: object, sections: object = {}) => {
    rig = await startMcp(record, { server_config: sections })
    rig.upstream.answer(speaking(({ id }) => result(id)))
    session = await rig.open()
  }
  const names = async (response: Response) => {
    const { result: shown } = (await response.json()) as { result: { tools: { name: string }[] } }
    return shown.tools.map(({ name }) => name)
  }

  it('without filters a list passes as it is', async () => {
    await start({})
    rig.upstream.answer({ headers: json, body: listed(tool('b'), tool('a')) })
    expect(await (await rig.post(list, { session })).text()).to.equal(listed(tool('b'), tool('a')))
  })

  it('tools that are not allowed, and those that are denied, are left out; everything else stays', async () => {
    await start({ tools: { allow: ['c', 'a', 'b'], deny: ['b'] } })
    const whole = listed(tool('c', ',"title":"C"'), tool('b'), tool('x'), tool('a'))
    const expected = tight(listed(tool('c', ',"title":"C"'), tool('a')))
    rig.upstream.answer({ headers: json, body: whole })
    expect(await (await rig.post(list, { session })).text()).to.equal(expected)
    rig.upstream.answer(events([`: a\n\nid: 3\nevent: message\nretry: 5\ndata: ${whole}\n\n: b\n\n`]))
    expect(await (await rig.post(list, { session })).text()).to.equal(
      `: a\n\nid: 3\nevent: message\nretry: 5\ndata: ${expected}\n\n: b\n\n`,
    )
  })

  it('a list on a stream that is resumed is filtered, too', async () => {
    await start({ tools: { deny: ['b'] } })
    rig.upstream.answer(events(['id: 1\ndata:\n\n']))
    await (await rig.post(list, { session })).text()
    const data = listed(tool('a'), tool('b')).replace('"tools"', '\ndata: "tools"')
    rig.upstream.answer(events([`data: ${data}\r\n\r\n`]))
    const text = await (await rig.get({ session, headers: { 'last-event-id': '1' } })).text()
    expect(text).to.equal(`data: ${tight(listed(tool('a')))}\n\n`)
  })

  const hidden = listed(tool('a'), tool('b'))
  const shown = tight(listed(tool('a')))
  for (const [name, script] of Object.entries({
    'a list of messages': { headers: json, body: `[${hidden}]` },
    'a mark of the byte order': { headers: json, body: `\uFEFF${hidden}` },
    'another type, in which a client finds the right one': {
      headers: { 'content-type': 'text/plain; application/json' },
      body: hidden,
    },
    'no type': { headers: {}, body: hidden },
    'a list of messages in a stream': events([`data: [${hidden}]\n\n`]),
    'a stream with a mark of the byte order': events([`\uFEFFdata: ${hidden}\n\n`]),
    'a stream of another type, in which a client finds the right one': {
      ...events([`data: ${hidden}\n\n`]),
      headers: { 'content-type': 'x/y; text/event-stream' },
    },
  }))
    it(`a list is filtered in ${name}`, async () => {
      await start({ tools: { deny: ['b'] } })
      rig.upstream.answer(script)
      const text = await (await rig.post(list, { session })).text()
      expect(text).to.include(shown)
      expect(text).to.not.include('"b"')
    })

  it('a tool that is not offered cannot be called; the server is not asked', async () => {
    await start({ tools: { allow: ['a', 'b'], deny: ['b'] } })
    for (const name of ['b', 'x', 'A', '']) {
      const response = await rig.post(call(name), { session })
      expect([response.status, await response.json()]).to.deep.equal([
        200,
        { jsonrpc: '2.0', id: 8, error: { code: -32602, message: `The tool "${name}" is not offered here.` } },
      ])
    }
    for (const name of [undefined, 7, null, ['a']]) {
      const response = await rig.post(call(name), { session })
      expect([response.status, ((await response.json()) as { error: { code: number } }).error.code]).to.deep.equal([
        400, -32602,
      ])
    }
    // Nor as a notification, which is not answered.
    expect(
      (await rig.post({ jsonrpc: '2.0', method: 'tools/call', params: { name: 'b' } }, { session })).status,
    ).to.equal(200)
    expect(rig.upstream.requests.length).to.equal(1)
    expect((await rig.post(call('a'), { session })).status).to.equal(200)
    expect(rig.upstream.requests.length).to.equal(2)
  })

  it('an empty list of allowed tools allows none', async () => {
    await start({ tools: { allow: [] } })
    rig.upstream.answer({ headers: json, body: listed(tool('a')) })
    expect(await names(await rig.post(list, { session }))).to.deep.equal([])
    expect(((await (await rig.post(call('a'), { session })).json()) as { error: object }).error).to.include({
      code: -32602,
    })
  })

  it('a tool with a long description is left out', async () => {
    await start({}, { mcp_security: { max_description_bytes: 10 } })
    const described = (name: string, text: string) => tool(name, `,"description":"${text}"`)
    rig.upstream.answer({
      headers: json,
      body: listed(described('a', '0123456789'), described('b', '01234567ü9'), tool('c')),
    })
    expect(await names(await rig.post(list, { session }))).to.deep.equal(['a', 'c'])
  })

  it('answers to other requests keep what looks like other lists', async () => {
    await start({ tools: { allow: [] } })
    const body = '{"jsonrpc":"2.0","id":7,"result":{"prompts":[{"name":"a"}], "content":[{"tools":[{"name":"a"}]}]}}'
    rig.upstream.answer({ headers: json, body })
    expect(await (await rig.post({ ...list, method: 'prompts/list' }, { session })).text()).to.equal(body)
    const asked = '{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"tools":[{"name":"a"}]}}'
    rig.upstream.answer(events([`data: ${asked}\n\n`, `data: ${body}\n\n`]))
    expect(await (await rig.post(list, { session })).text()).to.equal(`data: ${asked}\n\ndata: ${body}\n\n`)
  })
})
