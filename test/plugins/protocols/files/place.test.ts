import { expect } from 'chai'
import { placeOf } from '../../../../plugins/protocols/files/place.ts'

describe('the place of a text in a body', () => {
  const body = { model: 'm', input: [{ content: 'x' }, { content: [{ text: 'y' }, { file_url: 'http://a/' }] }] }

  it('is named as a client would write it', () => {
    expect(placeOf('http://a/', body)).to.equal('input[1].content[1].file_url')
    expect(placeOf('m', body)).to.equal('model')
  })
  it('is nowhere for a text that is not there', () => {
    expect(placeOf('http://b/', body)).to.equal(undefined)
  })
})
