import { defineCommand } from '../../engine/index.ts'

/** Options of every import. */
export const commonOptions = {
  out: { type: 'string', default: '.', description: 'The folder of the new gateway.' },
  dry_run: { type: 'boolean', default: false, description: 'Write nothing, and report the same.' },
  force: { type: 'boolean', default: false, description: 'Replace files that exist.' },
  strict: { type: 'boolean', default: false, description: 'Answer 3 also if something is kept with a difference.' },
} as const

export const words = { out: { value: 'folder' } } as const

const options = {
  type: 'object',
  additionalProperties: false,
  properties: {
    file: { type: 'string', description: 'Its configuration, such as config.yaml; absent: the database alone.' },
    database: {
      type: 'string',
      description: 'Address of its database, with keys, models and credentials: postgres://…',
    },
    salt_key: {
      type: 'string',
      default: 'LITELLM_SALT_KEY',
      description: 'Name of the variable with the key that seals credentials in its database; unset: the master key.',
    },
    ...commonOptions,
    master_key_as_key: {
      type: 'boolean',
      default: false,
      description: 'Make its master key an API key that may use every model.',
    },
  },
} as const

/** Makes a configuration of one of LiteLLM, and takes its keys over. */
export default defineCommand({
  name: 'import litellm',
  summary: 'Make a configuration of one of LiteLLM, and take its keys over.',
  group: 'Take over the configuration and the keys of another gateway.',
  options,
  arguments: ['file'],
  words: { ...words, database: { value: 'address' }, salt_key: { value: 'name' } },
  // Loaded when it is asked for: a gateway need not have it.
  run: async (given, _services, output) => (await import('./litellm-import.ts')).importLitellm(given, output),
})
