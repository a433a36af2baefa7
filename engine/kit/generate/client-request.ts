import type { AnyClientCodec, Head } from '../../spec/codec.ts'
import { GatewayError } from '../../spec/error.ts'
import type { JsonObject } from '../../spec/json.ts'
import type { GenerateRequest } from '../../spec/generate.ts'
import type { Operation, RequestOf } from '../../spec/operation.ts'
import type { Completion, Envelope } from '../../spec/slots.ts'
import type { Loss } from '../../spec/translation.ts'
import { BytesBody } from '../../stream/body.ts'
import { sealPrefix, unpackSeal } from './seal.ts'

/** The parts read from a request. */
type Read = Pick<Envelope, 'raw' | 'headers' | 'contentType'> & {
  /** When absent, the body is printed from the neutral form on demand. */
  readonly body?: JsonObject
  readonly modelAt?: Envelope['modelAt'] | undefined
}

/** Changes made by stages. */
interface Made {
  readonly sent?: JsonObject
  readonly exact: boolean
  /** Whether the client sent something else. */
  readonly rewritten?: boolean
  readonly neutral?: unknown
  readonly inlined?: Inlining | undefined
  readonly heldBy?: string | undefined
  readonly missing?: GatewayError | undefined
  readonly losses?: readonly Loss[]
}

/** Puts files in place of their addresses. */
type Inlining = Extract<Completion, { readonly inlined: unknown }>['inlined']

const none: readonly Loss[] = []

/** A request in the protocol of `codec`. */
export class ClientRequest implements Envelope {
  readonly operation: Operation
  readonly protocol: string
  readonly raw: Envelope['raw']
  readonly headers: Envelope['headers']
  readonly contentType: string
  readonly sent: JsonObject
  readonly exact: boolean
  readonly losses: readonly Loss[]
  declare readonly modelAt?: { start: number; end: number }
  declare readonly heldBy?: string
  declare readonly missing?: GatewayError
  readonly #codec: AnyClientCodec
  readonly #rewritten: boolean
  readonly #inlined: Inlining | undefined
  #body: JsonObject | undefined
  #head: Head | undefined
  #neutral: unknown
  #sealed: boolean | undefined

  constructor(codec: AnyClientCodec, read: Read, made: Made = { exact: true }) {
    this.operation = codec.operation
    this.protocol = codec.protocol
    this.raw = read.raw
    this.headers = read.headers
    this.contentType = read.contentType
    this.#codec = codec
    this.#body = read.body
    this.#neutral = made.neutral
    this.#rewritten = made.rewritten ?? false
    this.#inlined = made.inlined
    this.sent = made.sent ?? this.body
    this.exact = made.exact
    this.losses = made.losses ?? none
    if (read.modelAt) this.modelAt = read.modelAt
    // The provider's stored content belongs to the client's own bytes, so only an unchanged request refers to it.
    if (made.heldBy !== undefined && !made.rewritten) this.heldBy = made.heldBy
    if (made.missing) this.missing = made.missing
  }

  get body(): JsonObject {
    return (this.#body ??= this.#printed())
  }

  get model(): string {
    // The log also reads this for bodies that no schema has validated.
    const model: unknown = this.#read().model
    return typeof model === 'string' ? model : ''
  }

  get stream(): boolean {
    return this.#read().stream
  }

  get background(): boolean {
    return this.#read().background
  }

  get sealed(): boolean {
    return (this.#sealed ??= holdsSeal(this.raw.bytes))
  }

  neutral<O extends Operation>(operation: O): RequestOf<O> {
    const { request } = this.#codec
    if (operation !== this.operation || !request)
      throw new GatewayError('invalid_request_error', {
        model: this.model,
        reason: `its provider does not speak ${this.protocol}`,
      })
    if (this.#neutral === undefined) {
      const parsed: unknown = request.parse(this.body)
      this.#neutral = this.#inlined ? this.#inlined(parsed as GenerateRequest) : parsed
    }
    return this.#neutral as RequestOf<O>
  }

  with(change: Completion): Envelope {
    const { sent, exact, heldBy, missing, losses } = this
    const made = { sent, exact: false, rewritten: this.#rewritten, missing, losses, inlined: this.#inlined }
    if ('neutral' in change) return this.#made({}, { ...made, neutral: change.neutral, inlined: undefined })
    if ('inlined' in change)
      return this.#made(this, { ...made, ...change, neutral: change.inlined(this.neutral('generate')) })
    if ('body' in change)
      return this.#made(change, { ...made, heldBy: change.heldBy, missing: change.missing ?? missing })
    return this.#made(this, { ...made, ...change, exact, neutral: this.#neutral, heldBy })
  }

  rewrite(change: (body: JsonObject) => JsonObject, losses: readonly Loss[] = none): Envelope {
    const { sent, missing, contentType, model } = this
    if (contentType !== 'application/json')
      throw new GatewayError('invalid_request_error', { model, reason: 'a form cannot be rewritten' })
    const rewritten = change(sent)
    const body = this.exact ? rewritten : change(this.body)
    const read = { ...printed(rewritten, this.#codec.located?.fields), headers: this.headers, contentType, body }
    const made = { sent: rewritten, exact: this.exact, rewritten: true, missing, inlined: this.#inlined }
    return new ClientRequest(this.#codec, read, { ...made, losses: [...this.losses, ...losses] })
  }

  #made({ body }: Pick<Read, 'body'>, made: Made): Envelope {
    const { raw, headers, contentType, modelAt } = this
    return new ClientRequest(this.#codec, { raw, headers, contentType, modelAt, ...(body ? { body } : {}) }, made)
  }

  /** The neutral form as a body of the client's protocol, with the model name that the client requested. */
  #printed(): JsonObject {
    const { operation, protocol } = this
    const { model } = this.#codec.head(this.sent)
    const record = { name: model, provider: '', upstream_model: model, aliases: [], fallbacks: [] }
    const able = { supports_images: true, supports_tools: true, supports_mapeval: true, supports_realtime: true }
    const printed = this.#codec.request?.print(this.#neutral, {
      model,
      record: { ...record, ...able, auto_eligible: false },
      offer: { operation, protocol },
      origin: '',
    })
    const { request, located } = this.#codec
    const asSent = [...(request?.asSent ?? []), ...(located?.fields ?? [])]
    const members = (body: JsonObject, sent: boolean) =>
      Object.entries(body).filter(([name]) => asSent.includes(name) === sent)
    return Object.fromEntries([...members(printed?.body ?? {}, false), ...members(this.sent, true)])
  }

  #read(): Head {
    return (this.#head ??= this.#codec.head(this.body))
  }
}

/** A JSON string that looks like a seal from its first to its last character. */
const sealLike = new RegExp(`"(${sealPrefix.replace('.', '\\.')}[\\w-]+)"`, 'g')
/** The same in base64, for protocols whose signatures are bytes. */
const encodedPrefix = Buffer.from(sealPrefix.slice(0, 3)).toString('base64')
const encodedSeal = new RegExp(`"(${encodedPrefix}[\\w+/-]+={0,2})"`, 'g')

/** Whether a body contains a seal packed by this gateway. A text that only mentions a seal does not count. */
function holdsSeal(body: Buffer | undefined): boolean {
  const plain = body?.includes(sealPrefix)
  const encoded = body?.includes(`"${encodedPrefix}`)
  if (!body || (!plain && !encoded)) return false
  const text = body.toString('latin1')
  return (
    text.matchAll(sealLike).some(([, seal = '']) => unpackSeal(seal) !== undefined) ||
    text.matchAll(encodedSeal).some(([, seal = '']) => unpackSeal(Buffer.from(seal, 'base64').toString()) !== undefined)
  )
}

/**
 * A body as bytes with the model first, and the position of the model's name in them.
 * @param located fields that stand in the address instead
 */
function printed(body: JsonObject, located?: readonly string[]): Pick<Read, 'raw' | 'modelAt'> {
  if (located) {
    const own = Object.entries(body).filter(([name]) => !located.includes(name))
    return { raw: new BytesBody(Buffer.from(JSON.stringify(Object.fromEntries(own)))) }
  }
  const { model, ...others } = body
  if (typeof model !== 'string') return { raw: new BytesBody(Buffer.from(JSON.stringify({ model, ...others }))) }
  const rest = JSON.stringify(others)
  const name = JSON.stringify(model)
  const text = `{"model":${name}${rest === '{}' ? '' : ','}${rest.slice(1)}`
  const end = modelStart + Buffer.byteLength(name)
  return { raw: new BytesBody(Buffer.from(text)), modelAt: { start: modelStart, end } }
}

const modelStart = '{"model":'.length
