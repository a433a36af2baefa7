import { expect } from 'chai'
import providers from '../../../plugins/providers/index.ts'
import { openProvider, testHost } from '../../support/host.ts'
import type { TestHost } from '../../support/host.ts'

describe('plugins/providers/bedrock', () => {
  let host: TestHost
  let origins: Set<string>
  beforeEach(() => {
    origins = new Set()
    host = Object.assign(testHost(), { bounds: { reach: 'public', note: (url: URL) => void origins.add(url.origin) } })
  })
  afterEach(() => host.closeKept())

  const opened = (config: object) => {
    const plugin = providers.providers?.find(({ name }) => name === 'bedrock')
    if (!plugin) throw new Error('there is no such type')
    openProvider(plugin, { api_key: 'k', ...config }, host)
    return [...origins]
  }

  it('calls models and asks for their list at the hosts of its region', () => {
    expect(opened({ region: 'eu-west-1' })).to.have.members([
      'https://bedrock-runtime.eu-west-1.amazonaws.com',
      'https://bedrock.eu-west-1.amazonaws.com',
    ])
  })

  it('does so in China, too', () => {
    expect(opened({ region: 'cn-north-1' })).to.have.members([
      'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
      'https://bedrock.cn-north-1.amazonaws.com.cn',
    ])
  })

  it("asks for the list at the vendor's other host where its settings name one of the vendor's hosts", () => {
    expect(opened({ base_url: 'https://bedrock-runtime-fips.us-east-1.amazonaws.com' })).to.have.members([
      'https://bedrock-runtime-fips.us-east-1.amazonaws.com',
      'https://bedrock-fips.us-east-1.amazonaws.com',
    ])
  })

  it('uses one address for both where it is not one of the vendor', () => {
    expect(opened({ base_url: 'https://proxy.example/bedrock-runtime' })).to.deep.equal(['https://proxy.example'])
  })
})
