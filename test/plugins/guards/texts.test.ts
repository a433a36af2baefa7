import { expect } from 'chai'
import { textsIn } from '../../../plugins/guards/texts.ts'
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
})
