import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { streamConforms } from '../conformance/responses/check.ts'
import { Rig, kinds } from './responses-rig.ts'
import type { Kind } from './responses-rig.ts'

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const tool = (name: string) => ({ type: 'function', name, description: name, strict: false, parameters })

/** What a coding agent sends with every turn: no `instructions`, several developer messages, ids of its own. */
const settings = {
  tools: [
    tool('weather'),
    { type: 'namespace', name: 'agents', description: 'Other agents.', tools: [tool('spawn'), tool('wait')] },
    { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' } },
    { type: 'web_search', external_web_access: true },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { summary: 'auto' },
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'thread-1',
  client_metadata: { window: '1' },
}
const opening = [
  { type: 'message', id: 'msg_a', role: 'developer', content: [{ type: 'input_text', text: 'Be an agent.' }] },
  { type: 'message', id: 'msg_b', role: 'developer', content: [{ type: 'input_text', text: 'In this folder.' }] },
  { type: 'message', id: 'msg_c', role: 'user', content: [{ type: 'input_text', text: 'Rome or Oslo?' }] },
]

describe('an agent on responses', () => {
  const rig = new Rig()

  for (const kind of kinds)
    it(`does a round of tools before a ${kind} upstream`, async () => {
      rig.answer(kind, 'reasoning')
      const stream = await rig.streamed(kind, { ...settings, input: opening })
      const done = stream
        .split('\n\n')
        .filter((frame) => frame.startsWith('event: response.output_item.done\n'))
        .map((frame) => (JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as { item: JsonObject }).item)
      expect(done.map(({ type }) => type)).to.include.members(['reasoning', 'message', 'function_call'])
      if (kind !== 'native') streamConforms(stream)

      // Reasoning goes back without its id, and outputs have ids that the client made.
      const replayed = done.map((item) =>
        item['type'] === 'reasoning' ? { ...item, id: undefined, status: undefined, content: null } : item,
      )
      const outputs = ['call_a', 'call_b'].map((id) => ({
        type: 'function_call_output',
        id: `fco_${id}`,
        call_id: id,
        output: `It is warm. ${id}`,
      }))
      rig.answer(kind, 'length')
      const last = await rig.streamed(kind, { ...settings, input: [...opening, ...replayed, ...outputs] })
      expect(last).to.contain('event: response.incomplete')
      check[kind](rig.asked())
    })
})

/** What the upstream must get in the second turn. */
const check: Readonly<Record<Kind, (sent: JsonObject) => void>> = {
  native: (sent) => {
    const input = sent['input'] as JsonObject[]
    expect(sent).to.deep.include({ ...settings, model: 'upstream-1', stream: true })
    expect(input.slice(0, 3)).to.deep.equal(opening)
    expect(input.at(-1)).to.deep.include({ id: 'fco_call_b', call_id: 'call_b' })
  },
  compatible: (sent) => {
    const messages = sent['messages'] as JsonObject[]
    expect(messages.map(({ role }) => role)).to.deep.equal(['system', 'system', 'user', 'assistant', 'tool', 'tool'])
    expect(messages[3]?.['tool_calls']).to.have.length(2)
    expect(JSON.stringify(messages[3]?.['reasoning_details'])).to.contain('sig+up/1==')
    expect(names(sent)).to.deep.equal(['weather', 'agents__spawn', 'agents__wait', 'apply_patch'])
  },
  messages: (sent) => {
    const messages = sent['messages'] as { role: string; content: JsonObject[] }[]
    expect(sent['system']).to.deep.equal([
      { type: 'text', text: 'Be an agent.' },
      { type: 'text', text: 'In this folder.' },
    ])
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user'])
    expect(messages[1]?.content.map(({ type }) => type)).to.deep.equal([
      'thinking',
      'redacted_thinking',
      'text',
      'tool_use',
      'thinking',
      'tool_use',
    ])
    expect(messages[2]?.content.map(({ tool_use_id: id }) => id)).to.deep.equal(['call_a', 'call_b'])
    expect(names(sent)).to.deep.equal(['weather', 'agents__spawn', 'agents__wait', 'apply_patch', 'web_search'])
  },
}

function names(sent: JsonObject): unknown[] {
  const tools = sent['tools'] as JsonObject[]
  return tools.map((tool) => tool['name'] ?? (tool['function'] as JsonObject)['name'])
}
