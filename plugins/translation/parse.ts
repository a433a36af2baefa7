import { GatewayError, defineStage } from '../../engine/index.ts'
import { ClientRequest, FieldNames, FormReader, fieldAt, scanJson } from '../../engine/kit.ts'
import type { AnyClientCodec, Envelope, HeldBody, Ingress, JsonObject } from '../../engine/index.ts'

/** Top-level fields that stages and codecs read even when the body is forwarded unchanged. */
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

/** Parses the client's body in the protocol of its pipeline. */
export default defineStage({
  name: 'parse',
  summary: "Read the body in the pipeline's protocol.",
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      limit: {
        type: 'integer',
        minimum: 1,
        description: 'Most bytes a body may have. Unset: `request_policy.max_body_bytes`, and 536,870,912 for a form.',
      },
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
  uses: ['request_policy'],
  build: ({ limit, members }, host, { request_policy: { max_body_bytes: most } }) => {
    const limits = { whole: limit ?? most, form: limit ?? formLimit, members }
    const { name, protocol } = host.pipeline
    if (protocol === undefined) throw new Error(`pipeline "${name}" uses "parse" and says no protocol`)
    const codec = host.codec(protocol)
    return ({ ingress }) => read(ingress.protocol === undefined ? codec : host.codec(ingress.protocol), ingress, limits)
  },
})

const json = 'application/json'
/** Default for the most bytes of a form, which is written to disk. */
const formLimit = 512 * 1024 * 1024

interface Limits {
  /** Bytes of a body that is read as a whole, and of a form. */
  readonly whole: number
  readonly form: number
  readonly members: number
}

function read(
  codec: AnyClientCodec,
  ingress: Ingress,
  { whole, form: most, members }: Limits,
): Promise<{ request: Envelope }> {
  const contentType = ingress.headers['content-type'] ?? json
  const form = contentType !== json && contentType.toLowerCase().startsWith('multipart/form-data')
  const content = codec.content ?? 'json'
  if (content !== 'either' && form !== (content === 'multipart'))
    throw new GatewayError('unsupported_media_type', {
      given: contentType.split(';', 1)[0],
      expected: content === 'json' ? json : 'multipart/form-data',
    })
  return form
    ? readForm(codec, ingress, most, contentType)
    : ingress.body(whole).then((raw) => readJson(codec, ingress, raw, members))
}

async function readForm(codec: AnyClientCodec, ingress: Ingress, limit: number, contentType: string) {
  const reader = new FormReader(contentType)
  const raw = await ingress.body(limit, reader)
  const form = await reader.read()
  const { fields: body } = form
  checkNames(body)
  // One that has no model is refused where it is checked.
  const modelAt = body['model'] === undefined ? undefined : fieldAt(form, 'model')
  return { request: new ClientRequest(codec, { raw, headers: ingress.headers, contentType, body, modelAt }) }
}

/** A field that is there twice is a list. Some parsers take `model[]` for `model`, too. */
function checkNames(form: JsonObject): void {
  const read = fields.reader()
  for (const [name, value] of Object.entries(form)) {
    const [base = name] = name.split('[', 1)
    for (const _ of Array.isArray(value) ? value : [value]) read(base)
  }
}

const none: readonly never[] = []

function readJson(codec: AnyClientCodec, ingress: Ingress, raw: HeldBody, members: number) {
  const { headers, message } = ingress
  const verbatim = codec.request?.verbatim
  const { body, tokens } = scanJson(raw.bytes, { fields, members, verbatim, sent: message === undefined })
  const located = codec.located?.read(ingress)
  for (const [param, value = null] of located ? Object.entries(located) : none)
    if (Object.hasOwn(body, param) && codec.located?.repeats?.(body[param] ?? null, value) !== true)
      throw new GatewayError('invalid_value', { param, reason: 'it stands in the address, not in the body' })
  const read = { raw, headers, contentType: json, body: located ? { ...body, ...located } : body }
  return { request: new ClientRequest(codec, { ...read, modelAt: tokens.get('model') }) }
}
