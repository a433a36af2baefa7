import { expect } from 'chai'
import listModels from '../../../plugins/listing/list-models.ts'
import { MESSAGES, ask, large, largeOfMessages, small, smallOfMessages } from './ask.ts'

describe('plugins/listing/list-models', () => {
  it('needs to know who asks', () => {
    expect(listModels).to.deep.include({ name: 'list-models', needs: ['ingress', 'principal'], provides: ['reply'] })
  })

  it('lists the models that are served, in the order of the file', () => {
    expect(ask(listModels)).to.deep.equal({ object: 'list', data: [small, large] })
  })

  it('lists only what the key may use, by the model’s own name', () => {
    expect(ask(listModels, { models: ['team/large', 'far'] })).to.deep.equal({ object: 'list', data: [large] })
    expect(ask(listModels, { models: ['tiny'] })).to.deep.equal({ object: 'list', data: [] })
  })

  it('speaks as the messages API does to its clients', () => {
    expect(ask(listModels, { headers: MESSAGES })).to.deep.equal({
      data: [smallOfMessages, largeOfMessages],
      first_id: 'small',
      last_id: 'team/large',
      has_more: false,
    })
    const none = { data: [], first_id: null, last_id: null, has_more: false }
    expect(ask(listModels, { headers: MESSAGES, models: [] })).to.deep.equal(none)
  })
})
