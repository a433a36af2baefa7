import { expect } from 'chai'
import type { GenerateRequest, JsonObject, Tool } from '../../../../engine/index.ts'
import { print } from '../../../../plugins/protocols/messages/print-request.ts'
import { printed, request, target } from './fixtures.ts'

const empty = { type: 'object', properties: {} }
const look: Tool = { type: 'function', name: 'look' }

describe('messages: printing tools', () => {
  it('prints functions with their schema, mark and own flags', () => {
    const tools: Tool[] = [
      {
        type: 'function',
        name: 'a',
        description: 'A',
        parameters: { type: 'object', required: ['x'] },
        strict: true,
        cache: {},
        rest: { protocol: 'messages', fields: { defer_loading: true } },
      },
      { type: 'function', name: 'b', parameters: { properties: { y: {} } }, strict: false },
      look,
    ]
    const { body, lost } = printed({ tools })
    expect(body.tools).to.deep.equal([
      {
        name: 'a',
        description: 'A',
        input_schema: { type: 'object', required: ['x'] },
        cache_control: { type: 'ephemeral' },
        defer_loading: true,
      },
      { name: 'b', input_schema: { properties: { y: {} }, type: 'object' } },
      { name: 'look', input_schema: empty },
    ])
    expect(lost).to.deep.equal(['tools[].strict'])
    expect((printed({ tools }, target({ strict_tools: true })).body.tools as JsonObject[])[0]?.strict).to.equal(true)
  })

  it('sends custom tools as functions of one text, and says how to undo it', () => {
    const tools: Tool[] = [
      {
        type: 'custom',
        name: 'patch',
        description: 'Edits.',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: X' },
      },
      { type: 'function', name: 'read', namespace: 'fs' },
      { type: 'function', name: 'plain' },
    ]
    const { body, losses, restore } = print(request({ tools }), target())
    expect(body.tools).to.deep.equal([
      {
        name: 'patch',
        description: 'Edits.\n\nThe input follows this lark grammar:\nstart: X',
        input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
      },
      { name: 'fs__read', input_schema: empty },
      { name: 'plain', input_schema: empty },
    ])
    expect(losses.map((loss) => loss.field)).to.deep.equal(['tools[].format'])
    expect([...(restore?.tools ?? [])]).to.deep.equal([
      ['patch', { name: 'patch', kind: 'custom' }],
      ['fs__read', { name: 'read', namespace: 'fs', kind: 'function' }],
    ])
  })

  it('prints calls of custom tools as that one text', () => {
    const { body } = printed({
      items: [{ type: 'call', kind: 'custom', callId: 'c', name: 'patch', input: 'a "b"' }],
    })
    expect((body.messages as { content: JsonObject[] }[])[1]?.content[0]).to.deep.equal({
      type: 'tool_use',
      id: 'c',
      name: 'patch',
      input: { input: 'a "b"' },
    })
  })

  it('keeps vendor tools of its own and reports foreign ones', () => {
    const own = { type: 'web_search_20260318', name: 'web_search' }
    const { body, lost } = printed({
      tools: [
        { type: 'opaque', protocol: 'messages', value: own },
        { type: 'opaque', protocol: 'responses', value: { type: 'file_search' } },
      ],
    })
    expect(body.tools).to.deep.equal([own])
    expect(lost).to.deep.equal(['tools[].file_search'])
  })

  const other: Tool = { type: 'function', name: 'other' }
  const choices: [Partial<GenerateRequest>, JsonObject | undefined, string[]][] = [
    [{ toolChoice: { type: 'auto' } }, { type: 'auto' }, []],
    [{ toolChoice: { type: 'required' }, parallelTools: false }, { type: 'any', disable_parallel_tool_use: true }, []],
    [{ parallelTools: false }, { type: 'auto', disable_parallel_tool_use: true }, []],
    [{ parallelTools: true }, undefined, []],
    [{ toolChoice: { type: 'none' }, parallelTools: false }, { type: 'none' }, []],
    [{ toolChoice: { type: 'tool', kind: 'function', name: 'look' } }, { type: 'tool', name: 'look' }, []],
    [{ toolChoice: { type: 'opaque', protocol: 'messages', value: { type: 'new' } } }, { type: 'new' }, []],
    [{ toolChoice: { type: 'opaque', protocol: 'chat', value: 'x' } }, undefined, ['tool_choice']],
    [{ toolChoice: { type: 'required' }, tools: [] }, undefined, ['tool_choice']],
    [{ toolChoice: { type: 'none' }, parallelTools: false, tools: [] }, undefined, []],
  ]
  for (const [given, choice, lost] of choices)
    it(`prints the choice ${JSON.stringify(given)}`, () => {
      const found = printed({ tools: [look, other], ...given })
      expect(found.body.tool_choice).to.deep.equal(choice)
      expect(found.lost).to.deep.equal(lost)
    })

  it('sends only the allowed tools', () => {
    const allowed = { type: 'allowed', mode: 'required', tools: [{ kind: 'function', name: 'other' }] } as const
    const { body } = printed({ tools: [look, other], toolChoice: allowed })
    expect(body.tools).to.deep.equal([{ name: 'other', input_schema: empty }])
    expect(body.tool_choice).to.deep.equal({ type: 'any' })
  })

  it('names a chosen tool as it was printed', () => {
    const tools: Tool[] = [{ type: 'function', name: 'read', namespace: 'fs' }]
    const { body } = printed({ tools, toolChoice: { type: 'tool', kind: 'function', name: 'read' } })
    expect(body.tool_choice).to.deep.equal({ type: 'tool', name: 'fs__read' })
  })
})
