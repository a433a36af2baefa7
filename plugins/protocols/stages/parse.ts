import { GatewayError, defineStage, readForm, scanJson } from '../../../engine/index.ts'
import type { AnyCodec, Envelope, Head, Ingress, JsonObject, Operation, RequestOf } from '../../../engine/index.ts'

/** Reads the client's body in the protocol of its pipeline. */
export default defineStage({
  name: 'parse',
  summary: "Read the body in the pipeline's protocol.",
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      limit: { type: 'integer', minimum: 1, default: 67_108_864, description: 'Most bytes a body may have.' },
    },
  } as const,
  needs: ['ingress'],
  provides: ['request'],
  build: ({ limit }, host) => {
    const { name, protocol } = host.pipeline
    if (protocol === undefined) throw new Error(`pipeline "${name}" uses "parse" and says no protocol`)
    const codec = host.codec(protocol)
    return ({ ingress }) => read(codec, ingress, limit)
  },
})

async function read(codec: AnyCodec, ingress: Ingress, limit: number): Promise<{ request: Envelope }> {
  const contentType = ingress.headers['content-type'] ?? 'application/json'
  const form = contentType.toLowerCase().startsWith('multipart/form-data')
  const content = codec.content ?? 'json'
  if (content !== 'either' && form !== (content === 'multipart'))
    throw new GatewayError('unsupported_media_type', {
      given: contentType.split(';', 1)[0],
      expected: content === 'json' ? 'application/json' : 'multipart/form-data',
    })
  const raw = await ingress.body(limit)
  const { headers } = ingress
  if (form) {
    const { fields } = await readForm(raw, contentType)
    return { request: new ClientRequest(codec, { raw, headers, contentType, body: fields }) }
  }
  const { body, token: modelAt } = scanJson(raw, 'model')
  // Who reads it here and who reads it at the provider might each take another one.
  if (!modelAt && typeof body['model'] === 'string')
    throw new GatewayError('invalid_value', { param: 'model', reason: 'it stands there more than once' })
  return { request: new ClientRequest(codec, { raw, headers, contentType: 'application/json', body, modelAt }) }
}

type Read = Pick<Envelope, 'raw' | 'headers' | 'contentType' | 'body'> & {
  readonly modelAt?: Envelope['modelAt'] | undefined
}

class ClientRequest implements Envelope {
  readonly operation: Operation
  readonly protocol: string
  readonly raw: Buffer
  readonly headers: Envelope['headers']
  readonly contentType: string
  readonly body: JsonObject
  declare readonly modelAt?: { start: number; end: number }
  readonly #codec: AnyCodec
  #head: Head | undefined
  #neutral: unknown

  constructor(codec: AnyCodec, read: Read) {
    this.operation = codec.operation
    this.protocol = codec.protocol
    this.raw = read.raw
    this.headers = read.headers
    this.contentType = read.contentType
    this.body = read.body
    if (read.modelAt) this.modelAt = read.modelAt
    this.#codec = codec
  }

  get model(): string {
    // Asked for the log, too, of bodies that no schema has seen.
    const model: unknown = this.#read().model
    return typeof model === 'string' ? model : ''
  }

  get stream(): boolean {
    return this.#read().stream
  }

  get background(): boolean {
    return this.#read().background
  }

  neutral<O extends Operation>(operation: O): RequestOf<O> {
    if (operation !== this.operation || !this.#codec.request)
      throw new GatewayError('unsupported', {
        model: this.model,
        reason: `its provider does not speak ${this.protocol}`,
      })
    return (this.#neutral ??= this.#codec.request.parse(this.body)) as RequestOf<O>
  }

  #read() {
    return (this.#head ??= this.#codec.head(this.body))
  }
}
