import { GatewayError } from '../../engine/index.ts'
import type { Budget, JsonObject, Mistake, Principal, RateLimit } from '../../engine/index.ts'
import { defined, isObject, momentIn, patchSchema, timeText } from '../../engine/kit.ts'
import { budgetSchema, rateLimitSchema, recordName } from '../../engine/kit.ts'
import { tagsSchema } from './api-key.ts'
import type { KeyFields } from './known-key.ts'

const names = { type: ['array', 'null'], maxItems: 500, items: recordName } as const

const name = { ...recordName, title: 'Name', description: 'Name of the key, unique among living keys in any case.' }

const owner = {
  type: ['string', 'null'],
  title: 'Owner',
  description: 'Id of the member whose models, budget and limits bind the key, too; null: nobody.',
} as const

const metrics = {
  type: ['boolean', 'null'],
  title: 'Metrics',
  description: 'Whether the key may read the metrics of the gateway; default: false.',
} as const

const guards = {
  ...names,
  maxItems: 32,
  title: 'Guards',
  description: 'Guards that judge its requests, beside those that judge all.',
} as const

const guardsOff = {
  ...names,
  maxItems: 32,
  title: 'Guards off',
  description: 'Guards that do not judge its requests, although they judge all others.',
} as const

const others = {
  models: { ...names, title: 'Models', description: 'Models that the key may use, by name or alias; null: all.' },
  budget: budgetSchema,
  rate_limit: rateLimitSchema,
  mcp_servers: {
    ...names,
    title: 'MCP servers',
    description: 'MCP servers that the key may use; null: all over HTTP, and no program.',
  },
  tags: { ...tagsSchema, type: ['object', 'null'], title: 'Tags' },
  expires_at: {
    type: ['string', 'null'],
    title: 'Expires at',
    description: 'Date and time with its offset after which the key is rejected; null: never.',
  },
  disabled: {
    type: ['boolean', 'null'],
    title: 'Disabled',
    description: 'Whether the key is rejected for the time being; default: false.',
  },
} as const

function bodyOf(properties: object): JsonObject {
  const examples = [{ name: 'my-key', budget: { usd: 10, period: 'month' } }]
  return { type: 'object', additionalProperties: false, examples, required: ['name'], properties } as JsonObject
}

/** Whose keys an action serves: those that the client may see, or only those that the client owns. */
export type Whose = 'all' | 'own'

/** Schemas of the bodies that create a key. What a member creates is his own. */
export const creationBodies: Readonly<Record<Whose, JsonObject>> = {
  all: bodyOf({ name, owner, ...others, guards, guards_off: guardsOff, metrics }),
  own: bodyOf({ name, ...others }),
}

/** Schemas of the merge patches that change a key. */
export const changeBodies: Readonly<Record<Whose, JsonObject>> = {
  all: patchSchema(creationBodies.all),
  own: patchSchema(creationBodies.own),
}

/** Who must own the keys that an action changes. */
export function ownerOf({ id }: Pick<Principal, 'id'>, of: Whose): { readonly owner?: string } {
  return of === 'own' ? { owner: id } : {}
}

/** The names of the two actions on keys that do the same, and where the keys of each are. */
export function placeOf(verb: string, of: Whose) {
  const isOwn = of === 'own'
  return {
    name: `${verb}-${isOwn ? 'own-' : ''}api-key`,
    path: isOwn ? ('/api/me/api-keys' as const) : ('/api/api-keys' as const),
    access: { role: isOwn ? 'viewer' : 'admin' } as const,
    word: isOwn ? 'an API key that the member owns' : 'an API key',
  }
}

/** The fields of a body. It has a name and no null, and was accepted by its schema. */
export function fieldsIn(body: JsonObject): KeyFields {
  const { rate_limit: rateLimit, mcp_servers: mcpServers, expires_at: expires } = body
  const { tags = {}, disabled, metrics: reads } = body as Pick<KeyFields, 'tags' | 'disabled' | 'metrics'>
  const namesIn = (field: 'guards' | 'guards_off') => {
    const list = (body[field] ?? []) as readonly string[]
    return list.length > 0 ? list : undefined
  }
  return defined({
    name: body['name'] as string,
    owner: body['owner'] as string | undefined,
    models: body['models'] as readonly string[] | undefined,
    budget: body['budget'] as Budget | undefined,
    rateLimit: rateLimit as RateLimit | undefined,
    mcpServers: mcpServers as readonly string[] | undefined,
    tags: Object.keys(tags).length > 0 ? tags : undefined,
    expiresAt: typeof expires === 'string' ? momentIn(expires) : undefined,
    guards: namesIn('guards'),
    guardsOff: namesIn('guards_off'),
    metrics: reads === true ? true : undefined,
    disabled: disabled === true ? true : undefined,
  })
}

/** The body of fields: the reverse of `fieldsIn`. */
export function bodyOfFields(key: KeyFields): JsonObject {
  const { rateLimit, mcpServers, guardsOff, expiresAt, disabledBy: _by, granted: _granted, ...fields } = key
  return defined({
    ...fields,
    rate_limit: rateLimit,
    mcp_servers: mcpServers,
    guards_off: guardsOff,
    expires_at: expiresAt === undefined ? undefined : timeText(expiresAt),
  }) as object as JsonObject
}

/** What the fields of a body are checked against. */
export interface KeyChecks {
  /** Checks a body like a declared key; returns it with defaults and with the record names of its models. */
  readonly accept: (body: JsonObject) => JsonObject
  readonly isMember: (id: string) => boolean
}

/** Checks the parts of a body that its schema cannot. Throws a 422 with every mistake. */
export function checkedBody(body: JsonObject, { accept, isMember }: KeyChecks): JsonObject {
  const { owner: member, expires_at: expires, ...declarable } = body
  const { budget } = body
  const mistakes: Mistake[] = []
  const refuse = (code: string, param: string, why: string) =>
    void mistakes.push({ param, code, message: `${param} ${why}.` })
  if (typeof member === 'string' && !isMember(member)) refuse('invalid_reference', 'owner', 'is not the id of a member')
  const expiresAt = typeof expires === 'string' ? momentIn(expires) : undefined
  if (typeof expires === 'string' && expiresAt === undefined)
    refuse('invalid_field', 'expires_at', 'must be a date and time with its offset, such as 2027-01-31T12:00:00Z')
  // A patch may name the period of a budget that the key does not have.
  if (isObject(budget) && budget['usd'] === undefined) refuse('missing_field', 'budget.usd', 'is missing')
  const accepted = acceptedBy(accept, declarable, mistakes)
  if (mistakes.length > 0) throw refusalOf(mistakes, body)
  return {
    ...accepted,
    ...(typeof member === 'string' && { owner: member }),
    ...(expiresAt !== undefined && { expires_at: timeText(expiresAt) }),
  }
}

function acceptedBy(accept: KeyChecks['accept'], body: JsonObject, mistakes: Mistake[]): JsonObject {
  try {
    return accept(body)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const { param, code, message, errors = [{ param, code: code ?? error.code, message }] } = error.failure
    mistakes.push(...errors.filter((one) => one.code !== 'missing_field' || !one.param?.startsWith('budget')))
    return {}
  }
}

/** Maximum mistakes in one error. */
const mostMistakes = 50

/** One error with all mistakes, in the order of the body. */
function refusalOf(mistakes: readonly Mistake[], body: JsonObject): GatewayError {
  const fields = Object.keys(body)
  const rank = ({ param }: Mistake) => fields.indexOf(/^\w*/.exec(param ?? '')?.[0] ?? '')
  const errors = mistakes.toSorted((left, right) => rank(left) - rank(right)).slice(0, mostMistakes)
  const [{ param, code, message } = mistakes[0] as Mistake] = errors
  return new GatewayError('invalid_field', {}, { code, message, errors, ...(param === null ? {} : { param }) })
}
