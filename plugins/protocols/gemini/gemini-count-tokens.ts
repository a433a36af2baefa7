import { defineCodec } from '../../../engine/index.ts'
import type { Amendment, Envelope, JsonObject } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'
import { dialect } from './errors.ts'
import { locatedModel, resourceOf } from './located.ts'
import { schema } from './schema.ts'
import { bothSpellings } from './spelling.ts'

const { contents } = schema.properties as JsonObject

/** `countTokens`: the tokens of contents, or of a whole request (ai.google.dev/api/tokens). Answers `{ totalTokens }`. */
export default defineCodec({
  protocol: 'gemini-count-tokens',
  operation: 'count',
  summary: "Counts the input tokens of Gemini's requests; the model stands in the address.",
  address: { path: '/models/{model}:countTokens', prefix: '/v1beta' },
  located: locatedModel,
  schema: {
    type: 'object',
    examples: [{ contents: [{ role: 'user', parts: [{ text: 'Hello.' }] }] }],
    required: ['model'],
    properties: {
      model: { type: 'string', minLength: 1 },
      contents: contents ?? {},
      ...bothSpellings({
        generateContentRequest: { type: 'object', required: ['contents'], properties: { contents: contents ?? {} } },
      }),
    },
  },
  check: (body) => {
    const whole = body.generateContentRequest ?? body.generate_content_request
    if (isObject(whole) !== (body.contents !== undefined)) return undefined
    return { param: 'contents', reason: 'either these or a generateContentRequest are counted' }
  },
  head: ({ model }) => ({ model: model as string, stream: false, background: false }),
  error: dialect,
  relay: { amend },
  meter: { reply: () => ({}), stream: () => ({ complete: true }) },
})

/** A whole request names the model once more, as the vendor's resource. */
function amend({ body }: Pick<Envelope, 'body'>, _offer: unknown, model: string): Amendment | undefined {
  const named = Object.entries(body).filter(
    ([name, whole]) => /^generate_?content_?request$/i.test(name) && isObject(whole) && whole.model !== undefined,
  )
  if (named.length === 0) return undefined
  const fields = named.map(([name, whole]) => [name, { ...(whole as JsonObject), model: resourceOf(model) }] as const)
  return { fields: Object.fromEntries(fields) }
}
