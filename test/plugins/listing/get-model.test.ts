import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import getModel from '../../../plugins/listing/get-model.ts'
import { MESSAGES, ask, large, small, smallOfMessages } from './ask.ts'

describe('plugins/listing/get-model', () => {
  it('answers one model, by its name or an alias, in either shape', () => {
    expect(getModel).to.deep.include({ name: 'get-model', needs: ['ingress', 'principal'], provides: ['reply'] })
    expect(ask(getModel, { params: { model: 'small' } })).to.deep.equal(small)
    expect(ask(getModel, { params: { model: 'tiny' } })).to.deep.equal(small)
    expect(ask(getModel, { params: { model: 'team/large' } })).to.deep.equal(large)
    expect(ask(getModel, { params: { model: 'small' }, headers: MESSAGES })).to.deep.equal(smallOfMessages)
  })

  it('does not know a model that is not there, not served or not allowed: all with the same error', () => {
    for (const asked of [
      { params: { model: 'none' } },
      { params: { model: 'far' } },
      { params: { model: 'small' }, models: ['team/large'] },
      { params: { model: 'tiny' }, models: ['tiny'] },
      { params: { model: '__proto__' } },
    ]) {
      expect(() => ask(getModel, asked), JSON.stringify(asked))
        .to.throw(GatewayError, `The model "${asked.params.model}" does not exist.`)
        .that.has.property('failure')
        .that.includes({ status: 404, code: 'model_not_found' })
    }
  })

  it('suggests the nearest name that the key may use and a provider serves', () => {
    const refusal = (model: string, models?: readonly string[]) => () =>
      ask(getModel, { params: { model }, ...(models ? { models } : {}) })
    expect(refusal('smal')).to.throw(GatewayError, 'The model "smal" does not exist; did you mean "small"?')
    expect(refusal('tinny')).to.throw(GatewayError, 'The model "tinny" does not exist; did you mean "tiny"?')
    expect(refusal('smal', ['team/large'])).to.throw(GatewayError, 'The model "smal" does not exist.')
    expect(refusal('farr')).to.throw(GatewayError, 'The model "farr" does not exist.')
    expect(refusal('small'.repeat(1000)))
      .to.throw(GatewayError)
      .that.has.property('message')
      .with.length.below(200)
  })
})
