import type { EmbedInput, EmbedReply, EmbedRequest, Json, JsonObject, PrintTarget } from '../../../engine/index.ts'
import type { Printed } from '../../../engine/index.ts'
import { GatewayError } from '../../../engine/index.ts'
import { Losses, isObject } from '../../../engine/kit.ts'
import { resourceOf } from './located.ts'
import { bothSpellings, camelCased } from './spelling.ts'
import { parseUsage } from './usage.ts'

const protocol = 'gemini-embeddings'

/** JSON Schema of a request for one vector (ai.google.dev/api/embeddings, EmbedContentRequest), without its model. */
export const embedding = {
  type: 'object',
  required: ['content'],
  properties: {
    content: {
      type: 'object',
      required: ['parts'],
      properties: { parts: { type: 'array', minItems: 1, items: { type: 'object' } } },
    },
    ...bothSpellings({ outputDimensionality: { type: ['integer', 'null'], minimum: 1 } }),
  },
}

/** Fields of a request for one vector that are not its own: the model stands in the address, too. */
const shared = new Set(['model', 'routing'])

/** Parses requests for one vector each. What is more than a text, or unlike the first, no other protocol can say. */
export function parseEmbeddings(requests: readonly JsonObject[]): EmbedRequest {
  const wires = requests.map((one) => Object.fromEntries(Object.entries(one).filter(([name]) => !shared.has(name))))
  const [first, ...others] = wires.map((wire) => {
    const { content = null, outputDimensionality: dimensions, ...fields } = camelCased(wire)
    return { content, dimensions, fields }
  })
  const isAlike = others.every((one) => settingsOf(one) === settingsOf(first))
  if (!first || !isAlike) return { input: wires.map((value) => ({ type: 'opaque', protocol, value })) }
  const { dimensions, fields } = first
  return {
    input: [first, ...others].map(({ content }): EmbedInput => {
      const text = textIn(content)
      return text === undefined ? { type: 'opaque', protocol, value: { content } } : { type: 'text', text }
    }),
    ...(typeof dimensions === 'number' ? { dimensions } : {}),
    ...(Object.keys(fields).length > 0 ? { rest: { protocol, fields } } : {}),
  }
}

function settingsOf(one: { readonly dimensions?: Json | undefined; readonly fields: JsonObject } | undefined): string {
  return JSON.stringify([one?.dimensions, one?.fields])
}

/** The text of a content that is nothing else. */
function textIn(content: Json): string | undefined {
  const parts = isObject(content) && Array.isArray(content.parts) ? (content.parts as readonly Json[]) : []
  const [part, ...more] = parts
  if (!isObject(part) || more.length > 0 || Object.keys(part).length > 1) return undefined
  return typeof part.text === 'string' ? part.text : undefined
}

/** Prints a request: a list of requests for one vector each. */
export function print({ input, dimensions, user, rest }: EmbedRequest, { model }: PrintTarget): Printed<JsonObject> {
  const losses = new Losses(protocol)
  const own = losses.own(rest)
  if (user !== undefined) losses.add('user', 'the protocol has no such field')
  const requests = input.map((one, index) => ({
    model: resourceOf(model),
    ...contentOf(one, index),
    ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
    ...own,
  }))
  return { body: { requests }, losses: losses.list() }
}

function contentOf(input: EmbedInput, index: number): JsonObject {
  if (input.type === 'text') return { content: { parts: [{ text: input.text }] } }
  if (input.type === 'opaque' && input.protocol === protocol && isObject(input.value)) return input.value
  throw new GatewayError('invalid_value', {
    param: `input[${index}]`,
    reason: 'the provider of this model takes texts alone, not their tokens',
  })
}

export function parseReply(body: Json): EmbedReply {
  const list = isObject(body) ? body.embeddings : undefined
  if (!isObject(body) || !Array.isArray(list))
    throw new GatewayError('upstream_invalid_response', { reason: 'the answer has no list of vectors' })
  const usage = parseUsage(body.usageMetadata)
  const vectors = list.map((one) => {
    const values = isObject(one) ? one.values : undefined
    if (Array.isArray(values)) return values as readonly number[]
    throw new GatewayError('upstream_invalid_response', { reason: 'a vector is no list of numbers' })
  })
  return { vectors, ...(usage ? { usage } : {}) }
}

/** The tokens of an answer, as its protocol reports them; absent if nobody counted them. */
export function usageOf({ usage }: EmbedReply): JsonObject {
  return usage ? { usageMetadata: { promptTokenCount: usage.input + usage.cacheRead + usage.cacheWrite } } : {}
}
