import { expect } from 'chai'
import type { ModelRecord } from '../../../engine/index.ts'
import { declaredKey, modelNames } from '../../../plugins/keys/api-keys.ts'

const models = [
  { name: 'large', aliases: ['big', 'huge'] },
  { name: 'small', aliases: [] },
]

describe('plugins/keys/api-keys', () => {
  it('names models as their records do, and counts the expiry in milliseconds', () => {
    const keys = [
      { name: 'all', key: 'key-of-all' },
      { name: 'some', key: 'key-of-some', models: ['huge', 'small'], expires_at: '2030-01-31T12:00:00Z' },
      { name: 'none', key: 'key-of-none', models: [] },
    ]
    const names = modelNames(models as unknown as readonly ModelRecord[])
    expect(keys.map((key) => declaredKey(key, names))).to.deep.equal([
      { name: 'all', key: 'key-of-all' },
      {
        name: 'some',
        key: 'key-of-some',
        models: ['large', 'small'],
        expiresAt: Date.UTC(2030, 0, 31, 12),
      },
      { name: 'none', key: 'key-of-none', models: [] },
    ])
  })
})
