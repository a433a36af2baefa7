import { expect } from 'chai'
import { packSeal, unpackSeal } from '../../../../engine/kit.ts'
import { answerOf, conversationOf, recordedInput } from '../../../../plugins/responses/stored/conversation.ts'
import { bareId, exchangeId } from '../exchange.ts'
import { recordWith, said } from './kept.ts'

describe('the conversation of a record', () => {
  it('is written out, each item with an id of its kind', () => {
    expect(recordedInput('Hi', exchangeId)).to.deep.equal([
      {
        id: `msg_${bareId}i0000`,
        type: 'message',
        status: 'completed',
        role: 'user',
        content: [{ type: 'input_text', text: 'Hi' }],
      },
    ])
    const kinds = [
      { role: 'assistant', content: 'So' },
      { type: 'function_call_output', call_id: 'a', output: 'x', id: null },
      { type: 'reasoning', id: '', summary: [] },
      { type: 'never_heard_of' },
      { type: 'message', id: 'msg_mine', role: 'user', status: 'in_progress', content: [] },
    ]
    const written = recordedInput(kinds, exchangeId)
    expect(written.map(({ id }) => id)).to.deep.equal([
      `msg_${bareId}i0000`,
      `fco_${bareId}i0001`,
      `rs_${bareId}i0002`,
      `item_${bareId}i0003`,
      'msg_mine',
    ])
    expect(written[0]).to.deep.include({ content: [{ type: 'output_text', text: 'So', annotations: [] }] })
    expect(written[4]).to.deep.include({ status: 'in_progress' })
  })

  it('has each id once', () => {
    const twice = [
      said('one', 'msg_1'),
      { type: 'reasoning', id: 'rs_1' },
      said('two', 'msg_1'),
      said('three', 'msg_1'),
    ]
    const written = recordedInput(twice, exchangeId)
    expect(written.map(({ id }) => id)).to.deep.equal(['msg_1', 'rs_1', `msg_${bareId}i0002`, `msg_${bareId}i0003`])
    expect(written[2]?.['content']).to.deep.equal(said('two')['content'])
  })

  it('goes on with the reasoning that its client was not shown', () => {
    const item = { id: 'rs_1', type: 'reasoning', summary: [] }
    const record = recordWith({ response: { id: 'resp_1', output: [item, said('Hi')] }, sealed: { rs_1: 'gw1.x' } })
    expect(answerOf(record)).to.deep.equal([{ ...item, encrypted_content: 'gw1.x' }, said('Hi')])
  })

  it('goes on with the answer, whose reasoning says whose it is', () => {
    const cipher = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'cipher' }
    const clear = { id: 'rs_2', type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] }
    const shown = { id: 'rs_3', type: 'reasoning', summary: [{ type: 'summary_text', text: 'so' }] }
    const packed = { ...cipher, encrypted_content: packSeal('other/origin', { kind: 'redacted', data: 'x' }) }
    const output = [cipher, clear, shown, packed, { type: 'compaction', id: 'cmp_1' }, said('Hi')]
    const input = recordedInput('one', exchangeId)
    const record = recordWith({ input, response: { id: 'resp_1', output } })
    const whole = conversationOf(record)
    expect(whole.map(({ id }) => id)).to.deep.equal([input[0]?.['id'], 'rs_1', 'rs_2', 'rs_3', 'rs_1', 'msg_1'])
    const { id: _id, type: _type, ...cipherSaid } = cipher
    expect(unpackSeal(whole[1]?.['encrypted_content'] as string)).to.deep.equal({
      origin: 'acme/think',
      value: { kind: 'encrypted', data: JSON.stringify({ id: 'rs_1', ...cipherSaid }) },
    })
    expect(unpackSeal(whole[2]?.['encrypted_content'] as string)?.origin).to.equal('acme/think')
    expect(whole.slice(3, 5)).to.deep.equal([shown, packed])
    const { origin: _origin, ...nobody } = record
    expect(answerOf(nobody)[0]).to.deep.equal(cipher)
  })
})
