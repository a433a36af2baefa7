import { expect } from 'chai'
import { textsIn, withTexts } from '../../../plugins/guards/texts.ts'
import type { JsonObject } from '../../../engine/index.ts'

/** The texts of a body that guards judge. */
function judged(body: JsonObject, protocol = 'chat'): readonly string[] {
  return textsIn(body, protocol).map(({ text }) => text)
}

const user = (content: string) => ({ messages: [{ role: 'user', content }] })

describe('plugins/guards: texts of a request', () => {
  it('are judged also where they begin as data does', () => {
    const long = 'a forbidden word '.repeat(100)
    for (const text of [
      'data:;base64,forbidden',
      `data:;base64,${long}`,
      `data:image/png;base64,${long}`,
      `data:forbidden;base64,${'A'.repeat(2_000)}`,
      'data:image/png;base64,iVBORw0KGgo=',
    ]) {
      expect(judged(user(text)), text.slice(0, 40)).to.deep.equal([text])
      const call = { type: 'function_call', name: 'f', call_id: 'c', arguments: JSON.stringify({ a: text }) }
      expect(judged({ input: [call] }, 'responses'), text.slice(0, 40)).to.include(text)
    }
  })
  it('are not judged where they are data', () => {
    expect(judged(user(`data:image/png;base64,${'iVBO'.repeat(500)}`))).to.deep.equal([])
  })

  const called = (input: string) => ({
    input: [{ type: 'function_call', name: 'f', call_id: 'c', arguments: input }],
  })
  const mask = (text: string) => text.replaceAll('forbidden', '[X]').replaceAll(/\b4111111111111111\b/g, '[CARD]')
  const masked = (body: JsonObject) => withTexts(body, 'responses', ({ text }) => mask(text))
  const maskedCall = (input: string) =>
    (masked(called(input))['input'] as readonly JsonObject[])[0]?.['arguments'] as string

  it('are all those of the arguments of a tool', () => {
    const inputs: Readonly<Record<string, string>> = {
      '{"forbidden":1}': '{"[X]":1}',
      '{"forb\\u0069dden":1}': '{"[X]":1}',
      '{"a":"forb\\u0069dden","a":"b"}': '{"a":"[X]","a":"b"}',
      '{"a":"b","a":"forbidden"}': '{"a":"b","a":"[X]"}',
      '{"a":"forb\\u0069dden", "b": "for': '{"a":"[X]", "b": "for',
      '{"a":"\\u0066orb\\u0069dden': '{"a":"[X]',
      '{"a":"forbidden","a":"forb\\u0069dden"}': '{"a":"[X]","a":"[X]"}',
      '{"a":"{\\"b\\":\\"forbidden\\"}"}': '{"a":"{\\"b\\":\\"[X]\\"}"}',
      '{"n":12345678901234567890,"m":1.50,"c":4111111111111111}': '{"n":12345678901234567890,"m":1.50,"c":"[CARD]"}',
      '{"c":"4111111111111111"}': '{"c":"[CARD]"}',
    }
    for (const [input, wanted] of Object.entries(inputs)) expect(maskedCall(input), input).to.equal(wanted)
    const same = '{"n":12345678901234567890,"m":1.50,"t":"a\\u0062c"}'
    expect(maskedCall(same)).to.equal(same)
  })
  it('are judged however deep they are', () => {
    const deep = `${'['.repeat(50_000)}"forb\\u0069dden"${']'.repeat(50_000)}`
    expect(maskedCall(deep)).to.equal(deep.replace('forb\\u0069dden', '[X]'))
    expect(maskedCall('{"a":'.repeat(50_000))).to.equal('{"a":'.repeat(50_000))
  })
  it('are those of JSON in what a tool gave', () => {
    const content = '{"a":"forb\\u0069dden","b":"\\n"}'
    const body = { messages: [{ role: 'tool', tool_call_id: 'c', content }] }
    expect(judged(body)).to.include('forbidden')
    expect(withTexts(body, 'chat', ({ text }) => mask(text))['messages']).to.deep.equal([
      { role: 'tool', tool_call_id: 'c', content: '{"a":"[X]","b":"\\n"}' },
    ])
    const output = { type: 'function_call_output', call_id: 'c', output: content }
    expect(judged({ input: [output] }, 'responses')).to.include('forbidden')
  })
  it('are those of variables, whatever they are called', () => {
    const variables = { name: 'forbidden', format: { type: 'input_text', text: 'a text' } }
    expect(judged({ prompt: { id: 'p', variables } }, 'responses')).to.deep.equal(['forbidden', 'a text'])
  })
  it('are those of lists in which numbers stand, too', () => {
    expect(judged({ input: [1, 'forbidden'] }, 'embeddings')).to.deep.equal(['forbidden'])
    expect(judged({ input: [[1, 2], [3]] }, 'embeddings')).to.deep.equal([])
  })
})
