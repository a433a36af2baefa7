import { defineRecord } from '../../engine/index.ts'
import type { AllRecords, ConfigOf, Json, JsonObject, RecordView } from '../../engine/index.ts'
import { recordName, shape, sourceFilter, withTimes } from '../../engine/kit.ts'
import { checkConnection } from './connection.ts'
import { placesIn } from './places.ts'

const schema = {
  type: 'object',
  examples: [{ name: 'my-provider', type: 'echo' }],
  required: ['name', 'type'],
  properties: {
    name: { ...recordName, description: 'Name of the provider.' },
    type: { type: 'string', description: 'Type of the provider, which determines its further fields.' },
    enabled: {
      type: 'boolean',
      default: true,
      description: 'Whether the provider is used; if false, it is off, as if its key were not set.',
    },
    telemetry_name: {
      type: 'string',
      pattern: '^[a-z][a-z0-9_.-]{0,63}$',
      patternErrorMessage: 'must be lower-case letters, digits, "_", "." and "-"',
      description:
        'Its name in traces (`gen_ai.provider.name`), such as mistral_ai. Unset: that of its preset or type, otherwise its own.',
    },
    allow_private: {
      type: 'boolean',
      default: false,
      description: 'Whether a provider that is not declared in the file may be at private or loopback addresses.',
    },
    allow_link_local: {
      type: 'boolean',
      description:
        'Whether a provider that is declared in the file may be at link-local addresses, or at those where clouds serve their machines. Unset: no. No record that is made at run time may be there.',
    },
  },
} as const

/**
 * Names that the routes of models and providers have for themselves beside `:name`. In the file they are only warned of,
 * because a record may have had such a name before there were these routes.
 */
export const reservedNames: readonly string[] = ['types', 'names', 'sync-pricing', 'sync-metadata', 'status', 'reset']

declare module '../../engine/index.ts' {
  interface Records {
    provider: ConfigOf<typeof schema>
  }
}

export default defineRecord({
  name: 'provider',
  summary: 'The providers that serve models. A provider whose ${VARIABLE} is unset is off.',
  place: 'providers',
  schema,
  optional: true,
  switch: 'enabled',
  typed: 'provider',
  route: '/api/config/providers',
  shows: {
    type: shape.orNull(schema.properties.type),
    has_api_key: shape.flag('Whether it has a key.'),
    status: shape.object(
      {
        state: shape.word(['on', 'off', 'error'], 'Whether it serves; error: it is left out of the configuration.'),
        reason: shape.orNull(shape.text('Why it does not.')),
      },
      {},
      'Whether it serves.',
    ),
    serves: shape.list({ type: 'string' }, 'The operations that it serves.'),
    models: shape.integer('Number of models with a place there.'),
  },
  always: ['type', 'has_api_key', 'status', 'serves', 'models', 'created_at', 'updated_at'],
  check(provider, all, report) {
    const { name } = provider
    checkConnection(provider, all, report)
    if (reservedNames.includes(name))
      report(['name'], 'reserved', `"${name}" is a part of addresses, so no provider can have the name`, 'lenient')
  },
  show: ({ problem, ...shown }, record, all) => ({
    // Without its type, any of its fields may be secret, and none is shown.
    ...(shown['config'] === undefined ? {} : { secrets: {} }),
    enabled: true,
    allow_private: false,
    ...withTimes(shown),
    has_api_key: Object.keys(record.secrets).some((path) => /^config\.api_keys?\b/.test(path)),
    status: statusOf(record),
    serves: operationsOf(record, all),
    models: all.of('model').filter((model) => placesIn(model).some(({ provider }) => provider === record.name)).length,
    // A record that is left out may show nothing but its name.
    ...(record.problem === undefined || record.off !== undefined ? {} : { problem }),
  }),
  lists: {
    filters: {
      type: { accepts: 'text' },
      source: sourceFilter,
      state: { accepts: ['on', 'off', 'error'], values: ({ status }) => [(status as JsonObject)['state']] },
    },
    sorts: ['name', 'created_at'],
  },
})

/** `error`: it was stored, and is left out of the configuration. */
function statusOf({ off, problem }: RecordView): JsonObject {
  if (off !== undefined) return { state: 'off', reason: off }
  return problem === undefined ? { state: 'on', reason: null } : { state: 'error', reason: problem }
}

function operationsOf({ name }: RecordView, all: AllRecords): readonly Json[] {
  return [...new Set(all.offers(name, true)?.map(({ operation }) => operation))]
}
