import { expect } from 'chai'
import { gatherItems } from '../../../plugins/counting/gather-items.ts'
import { images } from './images.ts'

describe('gathering a responses body', () => {
  it('takes instructions, items, tools and the form of the answer, in order', () => {
    const tools = [{ type: 'function', name: 'get', parameters: { type: 'object' } }]
    const format = { type: 'json_schema', name: 'answer', schema: { type: 'object' } }
    const body = {
      model: 'm',
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'c2Vj' },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Wait.', annotations: [] }],
        },
        { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'get', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: '42' }] },
        { type: 'compaction', id: 'cmp_1', encrypted_content: 'c2VjcmV0' },
        { type: 'tool_search_call', arguments: { query: 'weather' } },
      ],
      tools,
      text: { format },
    }
    expect({ ...gatherItems(body) }).to.deep.equal({
      texts: [
        'Be brief.',
        'user',
        'Hi',
        'Hm.',
        'assistant',
        'Wait.',
        'get',
        '{"a":1}',
        '42',
        'weather',
        JSON.stringify(tools),
        JSON.stringify(format),
      ],
      media: 0,
    })
  })

  it('takes a text for input, and nothing where there is none', () => {
    expect({ ...gatherItems({ input: 'Hello' }) }).to.deep.equal({ texts: ['Hello'], media: 0 })
    expect({ ...gatherItems({ input: null, tools: [], text: {} }) }).to.deep.equal({ texts: [], media: 0 })
  })

  it('counts the images of tools by rule, and never base64 as text', () => {
    const png = `data:image/png;base64,${images.png(750, 2).toString('base64')}`
    const item = (...items: object[]) => ({ ...gatherItems({ input: items as never }) })
    const shot = (output: object) => item({ type: 'computer_call_output', call_id: 'c', output })
    expect(shot({ type: 'computer_screenshot', image_url: png })).to.deep.equal({ texts: [], media: 2 })
    expect(shot({ type: 'computer_screenshot', file_id: 'file_1' })).to.deep.equal({ texts: [], media: 1600 })
    const outputs = [
      { type: 'image', url: png },
      { type: 'logs', logs: 'done' },
    ]
    expect(item({ type: 'code_interpreter_call', code: 'plot()', outputs })).to.deep.equal({
      texts: ['plot()', 'done'],
      media: 2,
    })
    const pdf = `data:application/pdf;base64,${'A'.repeat(1000)}`
    const unknown = { shown: png, page: { of: [pdf] }, said: 'data:audio/wav;base64,AAAA', note: 'data: 7,8' }
    expect(item({ type: 'unknown', ...unknown })).to.deep.equal({ texts: ['data: 7,8'], media: 2002 })
    expect(item({ type: 'function_call_output', call_id: 'c', output: png })).to.deep.equal({ texts: [], media: 2 })
    expect(item({ role: 'user', content: `data:${'a'.repeat(10_000_000)}` }).texts).to.have.length(2)
  })

  it('counts images and documents by rule, and sound not at all', () => {
    const png = `data:image/png;base64,${images.png(750, 2).toString('base64')}`
    const parts = (...content: object[]) => ({ ...gatherItems({ input: [{ role: 'user', content }] as never }) })
    expect(parts({ type: 'input_image', image_url: png })).to.deep.equal({ texts: ['user'], media: 2 })
    expect(parts({ type: 'input_image', file_id: 'file_1' })).to.deep.equal({ texts: ['user'], media: 1600 })
    const pdf = `data:application/pdf;base64,${Buffer.alloc(60 * 1024).toString('base64')}`
    expect(parts({ type: 'input_file', file_data: pdf, filename: 'a.pdf' })).to.deep.equal({
      texts: ['user', 'a.pdf'],
      media: 4000,
    })
    expect(parts({ type: 'input_file', file_url: 'https://host/a.pdf' }).media).to.equal(20_000)
    expect(parts({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } })).to.deep.equal({
      texts: ['user'],
      media: 0,
    })
  })
})
