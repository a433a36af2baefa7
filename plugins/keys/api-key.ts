import { defineRecord } from '../../engine/index.ts'
import type { AllRecords, Budget, RateLimit, RecordReport } from '../../engine/index.ts'
import { budgetSchema, guessableBy, isVirtual, rateLimitSchema, recordName } from '../../engine/kit.ts'

declare module '../../engine/index.ts' {
  interface Records {
    api_key: ApiKey
  }
}

/** A virtual model, in upper or lower case. It is no record. */
const virtual = {
  pattern: '^([Ff][Aa][Ss][Tt]|[Aa][Uu][Tt][Oo]|[Bb][Ee][Ss][Tt])$',
  patternErrorMessage: 'must be fast, auto or best',
} as const

/** JSON Schema of the tags of a key. */
export const tagsSchema = {
  type: 'object',
  maxProperties: 16,
  propertyNames: {
    pattern: '^[a-z0-9_.-]{1,64}$',
    patternErrorMessage: 'must be 1 to 64 lower-case letters, digits, "_", "." or "-"',
  },
  additionalProperties: {
    type: 'string',
    maxLength: 256,
    // PostgreSQL could not search rows with them.
    pattern: '^[^\\u0000\\ud800-\\udfff]*$',
    patternErrorMessage: 'must hold no null character and no half of a surrogate pair',
  },
  description: 'Labels that every row of the request log repeats.',
} as const

const schema = {
  type: 'object',
  title: 'API key',
  additionalProperties: false,
  required: ['name', 'key'],
  description: 'An API key of a client.',
  properties: {
    name: { ...recordName, description: 'Name of the key in logs.' },
    key: {
      type: 'string',
      minLength: 8,
      maxLength: 256,
      // Safe in a header.
      pattern: '^[\\x21-\\x7e]*$',
      patternErrorMessage: 'must be printable ASCII characters without spaces',
      title: 'text',
      description: 'The key itself, preferably from the environment. While its variable is unset, the key is off.',
    },
    models: {
      type: 'array',
      maxItems: 500,
      items: {
        ...recordName,
        anyOf: [virtual, { 'x-names': 'model' }],
      },
      description: 'Models that the key may use, by name or alias; default: all.',
    },
    budget: budgetSchema,
    rate_limit: rateLimitSchema,
    mcp_servers: {
      type: 'array',
      maxItems: 500,
      items: { ...recordName, 'x-names': 'mcp_server' },
      description: 'MCP servers that the key may use; default: all over HTTP, and no program.',
    },
    tags: tagsSchema,
    expires_at: {
      type: 'string',
      minLength: 1,
      description: 'Date, or date and time (RFC 3339), after which the key is rejected.',
    },
    guards: {
      type: 'array',
      maxItems: 32,
      items: { ...recordName, 'x-names': 'guard' },
      description: 'Guards that judge its requests, beside those that judge all.',
    },
    guards_off: {
      type: 'array',
      maxItems: 32,
      items: { ...recordName, 'x-names': 'guard' },
      description: 'Guards that do not judge its requests, although they judge all others.',
    },
    metrics: { type: 'boolean', description: 'Whether the key may read the metrics of the gateway; default: false.' },
    disabled: { type: 'boolean', description: 'Whether the key is rejected for the time being; default: false.' },
  },
} as const

/** An API key of the configuration file. */
export interface ApiKey {
  readonly name: string
  readonly key: string
  readonly models?: readonly string[]
  readonly budget?: Budget | null
  readonly rate_limit?: RateLimit | null
  readonly mcp_servers?: readonly string[]
  readonly tags?: Readonly<Record<string, string>>
  /** RFC 3339. */
  readonly expires_at?: string
  readonly guards?: readonly string[]
  readonly guards_off?: readonly string[]
  readonly metrics?: boolean
  readonly disabled?: boolean
}

/** The record type of API keys, by which clients authenticate. */
export default defineRecord({
  name: 'api_key',
  summary: 'API keys declared here; others are stored in the database.',
  place: 'api_keys',
  schema,
  secrets: ['key'],
  unique: ['key'],
  optional: true,
  holds: 'service',
  check({ name, key, models, mcp_servers: servers = [], budget, expires_at: expires }, all, report) {
    // Empty while its variable is unset.
    const why = key === '' ? undefined : guessableBy(key)
    if (why !== undefined)
      report(
        ['key'],
        'weak-secret',
        `the key can be guessed, because ${why}; make one with "sluice key create"`,
        'warning',
      )
    checkModels(models, all, report)
    servers.forEach((server, at) => {
      if (servers.indexOf(server) < at)
        report(['mcp_servers', at], 'duplicate', `"${server}" stands there already`, 'warning')
    })
    if (budget?.usd === 0)
      report(['budget', 'usd'], 'limits', 'blocks the key; without a budget, nothing limits its costs', 'warning')
    const first = firstNames(all).get(name.toLowerCase())
    // The engine reports identical names.
    if (first !== undefined && first !== name)
      report(['name'], 'duplicate', `the API key "${first}" has the same name, apart from upper and lower case`)
    if (expires !== undefined && expires !== '' && !isMoment(expires))
      report(['expires_at'], 'date', 'must be a date or a date and time, such as 2027-01-31T12:00:00Z')
    else if (Date.parse(expires ?? '') < Date.now())
      report(['expires_at'], 'expired', `is in the past, so the key is rejected`, 'warning')
  },
})

/** Warns of lists of models with which a key can use none, and of models that stand there twice. */
function checkModels(models: ApiKey['models'], all: AllRecords, report: RecordReport): void {
  if (models === undefined) return
  const warn = (path: (string | number)[], code: string, message: string) => report(path, code, message, 'warning')
  const own = models.filter((name) => !isVirtual(name))
  const isOff = (name: string) => all.find('model', name)?.enabled === false
  if (models.length === 0)
    warn(['models'], 'models', 'is empty, so the key can use no model; leave it out to allow all')
  else if (own.length === 0) warn(['models'], 'routing', 'it holds virtual models only, so the key can use no model')
  else if (own.every(isOff)) warn(['models'], 'models', 'all of them are disabled, so the key can use no model')
  models.forEach((name, at) => {
    if (models.indexOf(name) < at) warn(['models', at], 'duplicate', `"${name}" stands there already`)
  })
}

const firstNamesOf = new WeakMap<AllRecords, ReadonlyMap<string, string>>()

/** The first name of an API key by its lower-case form. Computed once per check, because keys can be many. */
function firstNames(all: AllRecords): ReadonlyMap<string, string> {
  const known = firstNamesOf.get(all)
  if (known) return known
  const names = all.of('api_key').map(({ name }) => name)
  const made = new Map(names.toReversed().map((name) => [name.toLowerCase(), name]))
  firstNamesOf.set(all, made)
  return made
}

/** Whether a text is a valid name of a key. */
export function isName(text: string): boolean {
  return text !== '' && text.length <= recordName.maxLength && !/\s/u.test(text)
}

/** A calendar date, alone or with a time and its zone (RFC 3339). */
export function isMoment(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.getUTCDate() === Number(day) && !Number.isNaN(Date.parse(text))
}
