import { defineCommand } from '../../engine/index.ts'
import { searchKey } from './search-key.ts'

/** Revokes an API key of the database. Fails if no living key has this name or id. */
export default defineCommand({
  name: 'key revoke',
  summary: 'Revoke an API key permanently.',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['key'],
    properties: { key: { type: 'string', description: 'Its name or its id.' } },
  } as const,
  arguments: ['key'],
  uses: ['api_keys'],
  async run({ key }, { api_keys: keys }, { json, out, error }) {
    const { found, why } = await searchKey(keys, key, 'remove')
    const revoked = found !== undefined && (await keys.revoke(found, { by: 'cli' }))
    if (!revoked) error(`sluice: the API key "${key}" ${why ?? 'is revoked already'}`)
    else if (json) out(JSON.stringify({ id: found.id, name: found.name, revoked }))
    else out(`The API key "${found.name}" is revoked. Running gateways reject it within a second.`)
    return revoked ? 0 : 1
  },
})
