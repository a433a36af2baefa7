import type {
  Asked,
  EmbedInput,
  EmbedReply,
  EmbedRequest,
  Json,
  JsonObject,
  PrintTarget,
  Printed,
} from '../../../engine/index.ts'
import { GatewayError } from '../../../engine/index.ts'
import { Losses, isObject, tokenUsage } from '../../../engine/kit.ts'

const protocol = 'embeddings'

/** Fields with a neutral form, and those that belong to the gateway. */
const known = ['model', 'input', 'dimensions', 'user', 'routing']
/** Ways to write a vector that any provider's vectors can be written in. */
const written: readonly unknown[] = ['float', 'base64']

/** Parses a request: one text, several, tokens of one text, or those of several. */
export function parse(body: JsonObject): EmbedRequest {
  const { input = null, dimensions, user } = body
  const isKnown = (name: string, value: unknown) =>
    known.includes(name) || (name === 'encoding_format' && written.includes(value))
  const rest = Object.entries(body).filter(([name, value]) => !isKnown(name, value) && value !== null)
  return {
    input: isTokens(input) || !Array.isArray(input) ? [inputOf(input)] : (input as readonly Json[]).map(inputOf),
    ...(typeof dimensions === 'number' ? { dimensions } : {}),
    ...(typeof user === 'string' ? { user } : {}),
    ...(rest.length > 0 ? { rest: { protocol, fields: Object.fromEntries(rest) } } : {}),
  }
}

function inputOf(value: Json): EmbedInput {
  if (typeof value === 'string') return { type: 'text', text: value }
  return isTokens(value) ? { type: 'tokens', tokens: value } : { type: 'opaque', protocol, value }
}

function isTokens(value: Json): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number')
}

/** Prints a request. A list of one is kept as a list: its answer is the same. */
export function print(request: EmbedRequest, { model }: PrintTarget): Printed<JsonObject> {
  const losses = new Losses(protocol)
  const { dimensions, user } = request
  const input = request.input.map((one, index): Json => {
    if (one.type === 'text') return one.text
    if (one.type === 'tokens') return one.tokens
    if (one.protocol === protocol) return one.value
    throw new GatewayError('invalid_value', {
      param: `requests[${index}]`,
      reason: 'the provider of this model takes texts alone, and one setting for all of them',
    })
  })
  const body = {
    model,
    input,
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(user === undefined ? {} : { user }),
    ...losses.own(request.rest),
  }
  return { body, losses: losses.list() }
}

/** Parses an answer. Throws `upstream_invalid_response` for one without vectors. */
export function parseReply(body: Json): EmbedReply {
  const data = isObject(body) ? body['data'] : undefined
  if (!isObject(body) || !Array.isArray(data))
    throw new GatewayError('upstream_invalid_response', { reason: 'the answer has no list of vectors' })
  const usage = tokenUsage(body['usage'])
  const { model } = body
  return {
    ...(typeof model === 'string' ? { model } : {}),
    vectors: data.map((one) => vectorOf(isObject(one) ? one['embedding'] : undefined)),
    ...(usage ? { usage } : {}),
  }
}

function vectorOf(value: Json | undefined): readonly number[] {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'base64')
    return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4))
  }
  if (Array.isArray(value)) return value as readonly number[]
  throw new GatewayError('upstream_invalid_response', { reason: 'a vector is no list of numbers' })
}

/** Prints an answer; as base64 of 32-bit floats, little-endian, for clients that ask for it, as official ones do. */
export function printReply({ vectors, usage, model }: EmbedReply, asked: Asked): Printed<JsonObject> {
  const packs = isObject(asked.body) && asked.body['encoding_format'] === 'base64'
  const total = usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0
  const body = {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: packs ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector,
    })),
    model: model ?? asked.model,
    usage: { prompt_tokens: total, total_tokens: total },
  }
  return { body, losses: [] }
}
