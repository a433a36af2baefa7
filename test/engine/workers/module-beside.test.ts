import { expect } from 'chai'
import { moduleBeside } from '../../../engine/workers/module-beside.ts'

describe('the address of a module beside another', () => {
  const beside = (from: string) => moduleBeside('count', from).href

  it('ends as that of the other, from source and from the build', () => {
    expect(beside('file:///a/plugin/stage.ts')).to.equal('file:///a/plugin/count.ts')
    expect(beside('file:///a%20b/plugin.js/stage.js')).to.equal('file:///a%20b/plugin.js/count.js')
  })

  it('is the same after the other was loaded again', () => {
    expect(beside('file:///a/plugin/stage.ts?v=0f.js')).to.equal('file:///a/plugin/count.ts')
    expect(beside('file:///a/plugin/stage.js?v=0f')).to.equal('file:///a/plugin/count.js')
  })
})
