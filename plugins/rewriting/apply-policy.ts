import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { AnyClientCodec, Catalog, Envelope, Host, Json, JsonObject, Loss, Services } from '../../engine/index.ts'
import { isObject, valueAt } from '../../engine/kit.ts'

type Policy = Services['parameters']['policy']

/** Changes one thing of a body, and reports what that takes away from the client. */
type Change = (body: JsonObject, lose: (field: string, because: string) => void) => JsonObject

/** Applies the operator's policy for parameters (`server_config.request_policy`), as if the client had followed it. */
export default defineStage({
  name: 'apply-policy',
  summary: "Apply the operator's policy to the parameters of the request.",
  config: noConfig,
  needs: ['request'],
  provides: ['request'],
  notAfter: ['validate'],
  pays: ['apply-policy'],
  uses: ['parameters'],
  build: (_config, host, { parameters }) => {
    const { protocol = '' } = host.pipeline
    const codec = host.codec(protocol)
    const knows = knownTo(codec, host)
    const find: Catalog['find'] = (name) => host.catalog.find(name)
    let changes: readonly Change[] | undefined
    return ({ request }) => {
      const { policy, pseudonym } = parameters
      changes ??= changesOf(policy, { codec, knows, pseudonym, find })
      refuse(request, policy)
      if (changes.length === 0 && !contradicts(request.body, codec.outputLimits)) return { request }
      return {
        request:
          request.contentType === json
            ? changed(request, [onlyLargest(codec.outputLimits ?? []), ...changes])
            : unchanged(request, policy),
      }
    }
  },
})

const json = 'application/json'

function changed(request: Envelope, changes: readonly Change[]): Envelope {
  const losses = new Map<string, Loss>()
  const lose = (field: string, because: string) => void losses.set(field, { field, because })
  const change = (body: JsonObject) => changes.reduce((next, each) => each(next, lose), body)
  return change(request.body) === request.body ? request : request.rewrite(change, [...losses.values()])
}

/** Throws for a request that the policy does not allow. */
function refuse({ body, operation }: Envelope, policy: Policy): void {
  const { deny_parameters: denied, allow_background: background, max_tools: tools, max_messages: messages } = policy
  for (const param of denied)
    if (Object.hasOwn(body, param))
      throw new GatewayError('unsupported_parameter', { param, reason: 'this gateway does not allow it' })
  if (!background && body['background'] === true)
    throw new GatewayError('unsupported_parameter', {
      param: 'background',
      reason: 'this gateway makes no background responses',
    })
  refuseMore(body, 'tools', tools)
  refuseMore(body, 'messages', messages)
  refuseMore(body, 'contents', messages)
  // The input of embeddings is a list of texts, each for itself.
  if (operation !== 'embed') refuseMore(body, 'input', messages)
}

function refuseMore(body: JsonObject, param: string, most: number | null): void {
  const list = body[param]
  if (most === null || !Array.isArray(list) || list.length <= most) return
  const reason = `${param} has ${list.length} entries; this gateway allows ${most}.`
  throw new GatewayError('invalid_request', { reason }, { param })
}

/** A form, which cannot be changed. One with a field that the policy keeps from providers is rejected. */
function unchanged(request: Envelope, { drop_parameters: drops, end_user: users }: Policy): Envelope {
  for (const param of users === 'forward' ? drops : [...drops, 'user', 'safety_identifier'])
    if (Object.hasOwn(request.body, param))
      throw new GatewayError('unsupported_parameter', { param, reason: 'this gateway does not pass it on in forms' })
  return request
}

interface Known {
  readonly codec: AnyClientCodec
  /** Whether a value of the operator's is meant for requests of the protocol; `other`: for another field of that name. */
  readonly knows: (field: string, value: Json) => boolean | 'other'
  readonly pseudonym: (name: string) => string
  readonly find: Catalog['find']
}

/** The fields of a protocol. One that no protocol here knows is a vendor's own, and those are fields of conversations. */
function knownTo(codec: AnyClientCodec, { codecs }: Pick<Host, 'codecs'>): Known['knows'] {
  const fieldsOfAll = codecs.flatMap((each) => ('schema' in each ? [propertiesOf(each)] : []))
  const own = propertiesOf(codec)
  return (field, value) => {
    const namesakes = fieldsOfAll.flatMap((each) => (Object.hasOwn(each, field) ? [kindsOf(each[field])] : []))
    if (!Object.hasOwn(own, field)) return codec.operation === 'generate' && namesakes.length === 0
    const kind = kindOf(value)
    const kinds = kindsOf(own[field])
    // A value of a kind that is right nowhere is given to all, whose check then tells the operator.
    if (kinds ? kinds.includes(kind) : codec.operation === 'generate' || !isCompound(kind)) return true
    return namesakes.some((each) => each?.includes(kind)) ? 'other' : true
  }
}

function propertiesOf({ schema }: Pick<AnyClientCodec, 'schema'>): JsonObject {
  return isObject(schema['properties']) ? schema['properties'] : {}
}

/** The kinds of values that a field has. Undefined: they are the provider's to check. */
function kindsOf(field: Json | undefined): readonly Json[] | undefined {
  const type = isObject(field) ? field['type'] : undefined
  return type === undefined ? undefined : [type].flat().map((kind) => (kind === 'integer' ? 'number' : kind))
}

function kindOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function isCompound(kind: string): boolean {
  return kind === 'object' || kind === 'array'
}

function changesOf(policy: Policy, { codec, knows, pseudonym, find }: Known): readonly Change[] {
  const { outputLimits = [], protocol } = codec
  const { default_max_output_tokens: usual, max_output_tokens: most, end_user: users } = policy
  return [
    ...policy.drop_parameters.map(dropped),
    ...fieldsOf(policy.default_parameters).flatMap(([name, value]) =>
      knows(name, value) === true ? [filled([name], value)] : [],
    ),
    ...fieldsOf(policy.override_parameters).flatMap(([name, value]) => {
      const known = knows(name, value)
      return known === 'other' ? [] : [replaced(name, value, known)]
    }),
    ...(usual === null || outputLimits.length === 0 ? [] : [filled(outputLimits, usual)]),
    ...(most === null ? [] : outputLimits.map((name) => capped(name, most))),
    ...(most === null || outputLimits.length === 0 ? [] : [filled(outputLimits, (body) => within(most, body, find))]),
    ...(users === 'forward' ? [] : endUser(users === 'hash' ? pseudonym : undefined)),
    ...(policy.allow_store ? [] : [unstored(protocol)]),
  ]
}

function fieldsOf(fields: object): readonly [string, Json][] {
  return Object.entries(fields)
}

function dropped(name: string): Change {
  return (body, lose) => {
    if (!Object.hasOwn(body, name)) return body
    lose(name, 'the policy of the gateway removes it')
    return without(body, name)
  }
}

/** Sets the first of some fields, unless the client has set one of them. */
function filled(paths: readonly string[], value: Json | ((body: JsonObject) => Json)): Change {
  return (body) => {
    if (paths.some((path) => isSet(valueAt(body, path)))) return body
    // A protocol may have two spellings of the object that has the field.
    const path = paths.find((one) => one.includes('.') && isObject(body[one.split('.', 1)[0] ?? ''])) ?? paths[0] ?? ''
    return put(body, path, typeof value === 'function' ? value(body) : value)
  }
}

function isSet(given: Json | undefined): boolean {
  return given !== undefined && given !== null
}

/** Whether a body has several maxima. Most have one, and cost nothing more. */
function contradicts(body: JsonObject, paths: readonly string[] = []): boolean {
  let given = 0
  for (const path of paths) if (isSet(valueAt(body, path))) given++
  return given > 1
}

/** Of fields that mean the same maximum, the largest alone is kept: providers differ in which one they heed. */
function onlyLargest(paths: readonly string[]): Change {
  return (body, lose) => {
    const given = paths.filter((path) => typeof valueAt(body, path) === 'number')
    if (given.length < 2) return body
    const [kept = '', ...others] = given.toSorted(
      (one, other) => Number(valueAt(body, other)) - Number(valueAt(body, one)),
    )
    return others.reduce((next, path) => {
      lose(path, `${kept} is the same maximum and not smaller`)
      return removed(next, path)
    }, body)
  }
}

/** The highest maximum for a request that names none; its models may be able to generate less. */
function within(most: number, { model }: JsonObject, find: Catalog['find']): number {
  const record = typeof model === 'string' ? find(model) : undefined
  const records = [record, ...(record?.fallbacks ?? []).map(find)]
  return Math.min(most, ...records.map((one) => one?.max_output_tokens ?? most))
}

/** @param isKnown whether a request without the field gets it, too */
function replaced(name: string, value: Json, isKnown: boolean): Change {
  return (body) => (isKnown || Object.hasOwn(body, name) ? { ...body, [name]: value } : body)
}

function capped(path: string, most: number): Change {
  return (body, lose) => {
    const given = valueAt(body, path)
    if (typeof given !== 'number' || given <= most) return body
    lose(path, `this gateway allows at most ${most}`)
    return put(body, path, most)
  }
}

/** The body with a value at `path`. What is in the way, though no object, stays: the schema refuses it. */
function put(body: JsonObject, path: string, value: Json): JsonObject {
  const [name = '', ...rest] = path.split('.')
  if (rest.length === 0) return { ...body, [name]: value }
  const inner = body[name] ?? {}
  return isObject(inner) ? { ...body, [name]: put(inner, rest.join('.'), value) } : body
}

/** The body without the field at `path`. */
function removed(body: JsonObject, path: string): JsonObject {
  const [name = '', ...rest] = path.split('.')
  const inner = body[name]
  if (rest.length === 0 || !isObject(inner)) return without(body, name)
  return { ...body, [name]: removed(inner, rest.join('.')) }
}

/** Names of end users are removed, or replaced. */
function endUser(pseudonym: Known['pseudonym'] | undefined): readonly Change[] {
  const changed = (body: JsonObject, name: string) => {
    const given = body[name]
    if (typeof given === 'string' && pseudonym) return { ...body, [name]: pseudonym(given) }
    return Object.hasOwn(body, name) ? without(body, name) : body
  }
  return [
    (body) => changed(body, 'user'),
    (body) => changed(body, 'safety_identifier'),
    (body) => {
      const { metadata } = body
      if (!isObject(metadata) || !Object.hasOwn(metadata, 'user_id')) return body
      return { ...body, metadata: changed(metadata, 'user_id') }
    },
  ]
}

/** Responses are stored unless a request says otherwise, chat completions only if it says so. */
function unstored(protocol: string): Change {
  return (body) => {
    const isStored = protocol === 'responses' ? body['store'] !== false : body['store'] === true
    return isStored ? { ...body, store: false } : body
  }
}

function without(body: JsonObject, name: string): JsonObject {
  const { [name]: _, ...others } = body
  return others
}
