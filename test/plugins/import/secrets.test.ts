import { expect } from 'chai'
import { isHarmless, isSecretAddress, isSecretName } from '../../../plugins/import/secrets.ts'

describe('plugins/import: secrets', () => {
  it('knows what is plainly no secret', () => {
    const plain = [
      '',
      'read',
      'true',
      '8080',
      '30s',
      'v1',
      'red blue',
      '/data/files',
      '@scope/server@1.2.0',
      '2023-06-01',
      '@modelcontextprotocol/server-filesystem',
      'application/json, text/event-stream',
      'prompt-caching-2024-07-31',
      'https://example.com/start',
      'postgres://db.example.com/one',
      'us-east-1',
      'camelCase',
      'INFO',
    ]
    expect(plain.filter((text) => !isHarmless(text))).to.deep.equal([])
    const doubtful = [
      'sk-abc',
      'ghp_abc',
      'xoxb-1',
      'AKIAABCDEFGH',
      'eyJhbGci',
      'Bearer abc',
      'basic abc',
      'Pwd=abc',
      'key: abc',
      'postgres://u:PW@h/d',
      'https://example.com/?apikey=x',
      'a8b7c6d5e4f3',
      'QwErTyUiOpAs',
      '{"a":1}',
      'a=b',
      '9f86d081-884c-7d65-9a2f-eaa0c55ad015',
      'x'.repeat(25),
      '1234567890123',
      'Tr0ub4dor&3',
    ]
    expect(doubtful.filter(isHarmless)).to.deep.equal([])
  })

  it('finds credentials in addresses', () => {
    const open = ['https://a.example.com/v1', 'https://a.openai.azure.com/openai', 'http://localhost:11434/v1', 'x']
    expect(open.filter(isSecretAddress)).to.deep.equal([])
    const closed = [
      'https://u:p@a.example.com',
      'https://u@a.example.com',
      'https://a.example.com/?x=1',
      'https://a.example.com/#x',
      'https://a.example.com/mcp/sk-abc/mcp',
      'https://a.example.com/s/a1b2c3d4e5f6/mcp',
      '${HOST}://u:p@h',
    ]
    expect(closed.filter((text) => !isSecretAddress(text))).to.deep.equal([])
  })

  it('knows names of secrets', () => {
    const names = ['X-Api-Key', 'authorization', 'GITHUB_PAT', 'DB_PASSWD', 'x-signature', 'Cookie', '--client-secret']
    expect(names.filter((name) => !isSecretName(name))).to.deep.equal([])
    expect(['x-team', 'MODE', 'PATH', 'x-pattern', 'compat'].filter(isSecretName)).to.deep.equal([])
  })
})
