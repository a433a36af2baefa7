import { expect } from 'chai'
import { sourcesOf } from './sources.ts'

/** Ways to turn a text into markup or into a script, and addresses that are made of data. */
const ways =
  /\b(?:(?:inner|outer)HTML|insertAdjacentHTML|setHTMLUnsafe|srcdoc|DOMParser|document\.write|new Function)\b|\bhref=\{/

describe('sources of the console', () => {
  it('make no markup of texts, and no addresses of data', async () => {
    const sources = await sourcesOf('console/src', ['.ts', '.tsx'])
    expect(sources.filter(({ path }) => path.endsWith('.tsx')).length).to.be.above(100)
    // It looks at the scheme of an address.
    const checked = 'console/src/screens/logs/Metadata.tsx'
    expect(sources.filter(({ text }) => ways.test(text)).map(({ path }) => path)).to.deep.equal([checked])
    for (const sample of ['a.innerHTML = text', 'new DOMParser()', '<a href={url}>']) expect(sample).to.match(ways)
  })
})
