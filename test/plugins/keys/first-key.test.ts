import { expect } from 'chai'
import type { Catalog } from '../../../engine/index.ts'
import { greetingOf } from '../../../plugins/keys/first-key.ts'

/** What the start prints with these models; of the providers, "away" alone is off. */
const shown = async (models: readonly object[]) => {
  const provider = (name: string) => (name === 'away' ? { off: 'AWAY_KEY is not set' } : {})
  const catalog = { models, provider } as unknown as Catalog
  const line = await greetingOf('sk-x').served?.({ url: 'http://gateway', catalog })
  return line?.text ?? ''
}

describe('the request that the first start shows', () => {
  it('names a model that is on, also one whose second place alone is', async () => {
    const there = { name: 'there', provider: 'away', deployments: [{ provider: 'near' }] }
    const off = { name: 'off', provider: 'near', enabled: false }
    expect(await shown([{ name: 'gone', provider: 'away' }, off, there])).to.contain('"model": "there"')
  })

  it('lists the models where none has a name of its own', async () => {
    const text = await shown([{ name: 'near/*', provider: 'near' }])
    expect(text).to.contain("curl http://gateway/v1/models -H 'authorization: Bearer sk-x'").and.not.contain('a-model')
  })
})
