import { defineCommand } from '../../engine/index.ts'
import { didYouMean } from '../../engine/kit.ts'

/** Revokes an API key of the database. Fails if no active key has this name or id. */
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
    const stored = await keys.stored()
    const found = stored.find(({ id }) => id === key) ?? stored.find(({ name }) => name === key)
    if (!found) {
      const names = stored.filter(({ revoked_at: revoked }) => revoked === null).map(({ name }) => name)
      const why = keys.declared.some(({ name }) => name === key)
        ? 'is declared in the configuration file: remove it there'
        : `is not there${didYouMean(key, names)}`
      error(`sluice: the API key "${key}" ${why}`)
      return 1
    }
    const { id, name } = found
    const revoked = await keys.revoke(found)
    if (!revoked) error(`sluice: the API key "${name}" is revoked already`)
    else if (json) out(JSON.stringify({ id, name, revoked }))
    else out(`The API key "${name}" is revoked. Running gateways reject it within a second.`)
    return revoked ? 0 : 1
  },
})
