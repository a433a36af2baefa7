import { GatewayError, defineStage } from '../../../engine/index.ts'
import { FieldNames, fieldAt, readForm, scanJson } from '../../../engine/kit.ts'
import type { AnyCodec, Envelope, HeldBody, Ingress, JsonObject } from '../../../engine/index.ts'
import { ClientRequest } from './envelope.ts'

/** Top-level fields that stages and codecs decide by, also where the body goes upstream as it came. */
const fields = new FieldNames([
  'model',
  'stream',
  'stream_options',
  'background',
  'store',
  'previous_response_id',
  'conversation',
  'routing',
])

/** Reads the client's body in the protocol of its pipeline. */
export default defineStage({
  name: 'parse',
  summary: "Read the body in the pipeline's protocol.",
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      limit: { type: 'integer', minimum: 1, default: 67_108_864, description: 'Most bytes a body may have.' },
      members: {
        type: 'integer',
        minimum: 1,
        maximum: 2_000_000,
        default: 100_000,
        description: 'Most keys, objects and lists a JSON body may have; four elements of lists count as one.',
      },
    },
  } as const,
  needs: ['ingress'],
  provides: ['request'],
  readsBody: true,
  build: (limits, host) => {
    const { name, protocol } = host.pipeline
    if (protocol === undefined) throw new Error(`pipeline "${name}" uses "parse" and says no protocol`)
    const codec = host.codec(protocol)
    return ({ ingress }) => read(ingress.protocol === undefined ? codec : host.codec(ingress.protocol), ingress, limits)
  },
})

const json = 'application/json'

interface Limits {
  readonly limit: number
  readonly members: number
}

function read(codec: AnyCodec, ingress: Ingress, { limit, members }: Limits): Promise<{ request: Envelope }> {
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
    : reading.then((raw) => readJson(codec, ingress, raw, members))
}

async function readFields(codec: AnyCodec, { headers }: Ingress, raw: HeldBody, contentType: string) {
  const form = await readForm(raw.bytes, contentType)
  const { fields: body } = form
  checkNames(body)
  // One that has no model is refused where it is checked.
  const modelAt = body['model'] === undefined ? undefined : fieldAt(form, 'model')
  return { request: new ClientRequest(codec, { raw, headers, contentType, body, modelAt }) }
}

/** A field that is there twice is a list. */
function checkNames(form: JsonObject): void {
  const read = fields.reader()
  for (const [name, value] of Object.entries(form)) for (const _ of Array.isArray(value) ? value : [value]) read(name)
}

function readJson(codec: AnyCodec, { headers, message }: Ingress, raw: HeldBody, members: number) {
  const verbatim = codec.request?.verbatim
  const { body, tokens } = scanJson(raw.bytes, { fields, members, verbatim, sent: message === undefined })
  return { request: new ClientRequest(codec, { raw, headers, contentType: json, body, modelAt: tokens.get('model') }) }
}
