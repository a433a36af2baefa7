import { expect } from 'chai'
import type { Settings } from '../../../engine/config/settings.ts'
import { declaredKeys } from '../../../engine/live/declared-keys.ts'

const models = [
  { name: 'large', aliases: ['big', 'huge'] },
  { name: 'small', aliases: [] },
]

describe('engine/live/declared-keys', () => {
  it('names models as their records do, and counts the expiry in milliseconds', () => {
    const keys = [
      { name: 'all', key: 'key-of-all' },
      { name: 'some', key: 'key-of-some', models: ['huge', 'small'], expires_at: '2030-01-31T12:00:00Z' },
      { name: 'none', key: 'key-of-none', models: [] },
    ]
    expect(declaredKeys({ models, api_keys: keys } as unknown as Settings)).to.deep.equal([
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
