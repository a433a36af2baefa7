import { expect } from 'chai'
import type { JsonObject } from '../../../../engine/index.ts'
import { replay } from '../../../../plugins/responses/stored/replay.ts'
import { said } from './kept.ts'

const response = (fields: JsonObject): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  completed_at: 5,
  output: [],
  usage: { total_tokens: 1 },
  error: null,
  incomplete_details: null,
  ...fields,
})
const types = (of: JsonObject) => [...replay(of)].map(({ type }) => type)
const within = (item: JsonObject) => types(response({ output: [item] })).slice(2, -1)

describe('the replay of a stored response', () => {
  it('opens empty, fills up, and ends with the response as it is', () => {
    const whole = response({ output: [said('Hello')] })
    const events = [...replay(whole)]
    const begun = response({ status: 'in_progress', completed_at: null, usage: null })
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const part = { type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }
    expect(events).to.deep.equal(
      [
        { type: 'response.created', response: begun },
        { type: 'response.in_progress', response: begun },
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] },
        },
        { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
        { type: 'response.output_text.delta', ...place, delta: 'Hello', logprobs: [] },
        { type: 'response.output_text.done', ...place, text: 'Hello', logprobs: [] },
        { type: 'response.content_part.done', ...place, part },
        { type: 'response.output_item.done', output_index: 0, item: said('Hello') },
        { type: 'response.completed', response: whole },
      ].map((event, sequence_number) => ({ ...event, sequence_number })),
    )
  })

  it('says each kind of item in its own events', () => {
    const done = 'response.output_item.done'
    const added = 'response.output_item.added'
    expect(within({ id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' })).to.deep.equal([
      added,
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      done,
    ])
    expect(within({ id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_1', name: 'f', input: '' })).to.deep.equal([
      added,
      'response.custom_tool_call_input.done',
      done,
    ])
    expect(
      within({
        id: 'rs_1',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'so' }],
        content: [{ type: 'reasoning_text', text: 'hm' }],
      }),
    ).to.deep.equal([
      added,
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.content_part.added',
      'response.reasoning_text.delta',
      'response.reasoning_text.done',
      'response.content_part.done',
      done,
    ])
    const steps = (type: string, more: JsonObject = {}) =>
      within({ id: 'x_1', type, ...more })
        .slice(1, -1)
        .map((name) => name.replace(`response.${type}.`, ''))
    expect(steps('web_search_call')).to.deep.equal(['in_progress', 'searching', 'completed'])
    expect(steps('file_search_call')).to.deep.equal(['in_progress', 'searching', 'completed'])
    expect(steps('image_generation_call')).to.deep.equal(['in_progress', 'generating', 'completed'])
    expect(steps('mcp_list_tools', { error: 'no' })).to.deep.equal(['in_progress', 'failed'])
    expect(steps('mcp_call', { arguments: '{}', status: 'failed' })).to.deep.equal([
      'in_progress',
      'response.mcp_call_arguments.delta',
      'response.mcp_call_arguments.done',
      'failed',
    ])
    expect(steps('code_interpreter_call', { code: '1' })).to.deep.equal([
      'in_progress',
      'response.code_interpreter_call_code.delta',
      'response.code_interpreter_call_code.done',
      'interpreting',
      'completed',
    ])
    expect(steps('something_new')).to.deep.equal([])
  })

  it('ends a failed one with its error, and one that was cancelled without a word', () => {
    const error = { code: 'server_error', message: 'No luck.' }
    const events = [...replay(response({ status: 'failed', error }))].slice(2)
    expect(events.map(({ type }) => type)).to.deep.equal(['error', 'response.failed'])
    expect(events[0]).to.deep.include({ code: 'server_error', message: 'No luck.', sequence_number: 2 })
    expect(types(response({ status: 'cancelled' }))).to.deep.equal(['response.created', 'response.in_progress'])
    expect(types(response({ status: 'incomplete' })).at(-1)).to.equal('response.incomplete')
  })
})
