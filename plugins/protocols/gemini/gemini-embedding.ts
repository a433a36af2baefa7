import { GatewayError, defineClientCodec } from '../../../engine/index.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { embedding, parseEmbeddings, print, usageOf } from './embedding.ts'
import { dialect } from './errors.ts'
import { locatedModel } from './located.ts'

/** `embedContent`: the vector of one content (ai.google.dev/api/embeddings). Providers get a list of one. */
export default defineClientCodec<'embed'>({
  protocol: 'gemini-embedding',
  operation: 'embed',
  summary: 'The embedding of one content; the model stands in the address.',
  located: locatedModel,
  schema: {
    ...embedding,
    examples: [{ content: { parts: [{ text: 'Hello.' }] } }],
    required: ['model', 'content'],
    properties: { ...embedding.properties, model: { type: 'string', minLength: 1 } },
  },
  head: ({ model }) => ({ model: model as string, stream: false, background: false }),
  error: { print: (failure, id) => dialect.print(failure, id) },
  request: {
    parse: (body) => parseEmbeddings([body]),
    print: (request, target) => {
      const { body, losses } = print(request, target)
      const [one] = body.requests as readonly JsonObject[]
      return { body: one ?? {}, losses }
    },
  },
  reply: {
    print: (reply) => {
      const [values] = reply.vectors
      if (!values) throw new GatewayError('upstream_invalid_response', { reason: 'the answer has no vector' })
      return { body: { embedding: { values }, ...usageOf(reply) }, losses: [] }
    },
  },
})
