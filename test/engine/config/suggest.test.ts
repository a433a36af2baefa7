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
})
