import { defineCodec } from '../../../engine/index.ts'
import type { Amendment, Envelope, JsonObject } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'
import { embedding, parseEmbeddings, parseReply, print, usageOf } from './embedding.ts'
import { dialect } from './errors.ts'
import { locatedModel, resourceOf } from './located.ts'
import { parseUsage } from './usage.ts'

type Requests = readonly JsonObject[]

/** `batchEmbedContents`: a vector for each content (ai.google.dev/api/embeddings). */
export default defineCodec<'embed'>({
  protocol: 'gemini-embeddings',
  operation: 'embed',
  summary: 'Embeddings of contents; the model stands in the address.',
  address: { path: '/models/{model}:batchEmbedContents', prefix: '/v1beta' },
  located: locatedModel,
  schema: {
    type: 'object',
    examples: [{ requests: [{ content: { parts: [{ text: 'Hello.' }] } }] }],
    required: ['model', 'requests'],
    properties: {
      model: { type: 'string', minLength: 1 },
      requests: { type: 'array', minItems: 1, items: embedding },
    },
  },
  check: ({ model, requests }) => {
    const other = (requests as Requests).findIndex(
      (one) => typeof one.model === 'string' && resourceOf(one.model) !== resourceOf(model as string),
    )
    return other < 0 ? undefined : { param: `requests[${other}].model`, reason: 'it is not the model of the address' }
  },
  head: ({ model }) => ({ model: model as string, stream: false, background: false }),
  error: dialect,
  relay: { amend },
  meter: {
    reply: (body) => {
      const usage = isObject(body) ? parseUsage(body.usageMetadata) : undefined
      return usage ? { usage } : {}
    },
    stream: () => ({ complete: true }),
  },
  request: { parse: ({ requests }) => parseEmbeddings(requests as Requests), print },
  reply: {
    parse: parseReply,
    print: (reply) => ({
      body: { embeddings: reply.vectors.map((values) => ({ values })), ...usageOf(reply) },
      losses: [],
    }),
  },
})

/** Each request names the model once more, as the vendor's resource. */
function amend({ body }: Pick<Envelope, 'body'>, _offer: unknown, model: string): Amendment {
  const requests = (body.requests as Requests).map((one) => ({ ...one, model: resourceOf(model) }))
  return { fields: { requests } }
}
