import { expect } from 'chai'
import { placesOf } from '../../../../plugins/translation/files/place.ts'

describe('the places of texts in a body', () => {
  const url = 'http://a/'
  const body = { model: 'm', input: [{ content: url }, { content: [{ text: 'y' }, { file_url: url }] }] }

  it('are named as a client would write them, in the order of the body', () => {
    expect([...placesOf(new Set([url, 'm']), body)]).to.deep.equal([
      ['m', ['model']],
      [url, ['input[0].content', 'input[1].content[1].file_url']],
    ])
  })
  it('are none for a text that is not there', () => {
    expect(placesOf(new Set(['http://b/']), body).size).to.equal(0)
  })
})
