import { GatewayError, defineStage, readForm, scanJson } from '../../../engine/index.ts'
import type { AnyCodec, Envelope, Ingress } from '../../../engine/index.ts'
import { ClientRequest } from './envelope.ts'

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

const json = 'application/json'

function read(codec: AnyCodec, ingress: Ingress, limit: number): Promise<{ request: Envelope }> {
  const contentType = ingress.headers['content-type'] ?? json
  const form = contentType !== json && contentType.toLowerCase().startsWith('multipart/form-data')
  const content = codec.content ?? 'json'
  if (content !== 'either' && form !== (content === 'multipart'))
    throw new GatewayError('unsupported_media_type', {
      given: contentType.split(';', 1)[0],
      expected: content === 'json' ? json : 'multipart/form-data',
    })
  const reading = ingress.body(limit)
  return form
    ? reading.then((raw) => readFields(codec, ingress, raw, contentType))
    : reading.then((raw) => readJson(codec, ingress, raw))
}

async function readFields(codec: AnyCodec, { headers }: Ingress, raw: Buffer, contentType: string) {
  const { fields } = await readForm(raw, contentType)
  return { request: new ClientRequest(codec, { raw, headers, contentType, body: fields }) }
}

function readJson(codec: AnyCodec, { headers }: Ingress, raw: Buffer) {
  const { body, token: modelAt } = scanJson(raw, 'model')
  // Who reads it here and who reads it at the provider might each take another one.
  if (!modelAt && typeof body['model'] === 'string')
    throw new GatewayError('invalid_value', { param: 'model', reason: 'it stands there more than once' })
  return { request: new ClientRequest(codec, { raw, headers, contentType: json, body, modelAt }) }
}
