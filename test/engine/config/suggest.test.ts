import { expect } from 'chai'
import { didYouMean } from '../../../engine/config/suggest.ts'

describe('did you mean', () => {
  it('names the nearest word when one is near', () => {
    expect(didYouMean('clasify', ['classify', 'clarify', 'call'])).to.equal('; did you mean "classify"?')
    expect(didYouMean('prot', ['host', 'port'])).to.equal('; did you mean "port"?')
    expect(didYouMean('AUTH', ['auth'])).to.equal('; did you mean "auth"?')
    expect(didYouMean('completely', ['different'])).to.equal('')
    expect(didYouMean('x', [])).to.equal('')
  })

  it('knows short words, and words that were cut short', () => {
    expect(didYouMean('pots', ['port', 'host', 'path'])).to.equal('; did you mean "port"?')
    expect(didYouMean('lgo', ['log', 'call'])).to.equal('; did you mean "log"?')
    expect(didYouMean('temp', ['temperature', 'tools'])).to.equal('; did you mean "temperature"?')
    expect(didYouMean('max', ['max_tokens', 'max_messages'])).to.equal('')
    expect(didYouMean('a', ['auth'])).to.equal('')
  })
})
