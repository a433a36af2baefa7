import { createHash } from 'node:crypto'
import { isObject, parseJson } from '../../engine/kit.ts'
import type { Answer, Json, Sink } from '../../engine/index.ts'

const defaultSize = 16
const largestSize = 4096

/** Answers an embeddings request, given its body: one unit vector per input, which depends only on the input's text. */
export function embedded(body: Uint8Array): Answer {
  const asked = parseJson(Buffer.from(body).toString()) as Json
  const { input, model, dimensions, encoding_format: format } = isObject(asked) ? asked : {}
  const size = typeof dimensions === 'number' ? Math.min(dimensions, largestSize) : defaultSize
  const texts = (isTexts(input) ? input : [input]).map((text) =>
    typeof text === 'string' ? text : JSON.stringify(text),
  )
  const data = texts.map((text, index) => {
    const vector = vectorOf(text, size)
    const embedding = format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector
    return { object: 'embedding', index, embedding }
  })
  const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0)
  return json({ object: 'list', model: model ?? null, data, usage: { prompt_tokens: tokens, total_tokens: tokens } })
}

/** Whether this is a list of inputs, rather than one input as a list of tokens. */
function isTexts(input: Json | undefined): input is readonly Json[] {
  return Array.isArray(input) && typeof input[0] !== 'number'
}

function vectorOf(text: string, size: number): readonly number[] {
  const bytes = createHash('shake256', { outputLength: size }).update(text).digest()
  const raw = Array.from(bytes, (byte) => byte - 127.5)
  const length = Math.hypot(...raw)
  return raw.map((value) => value / length)
}

function json(value: Json): Answer {
  const bytes = Buffer.from(JSON.stringify(value))
  let sink: Sink | undefined
  const deliver = () => {
    sink?.data(bytes)
    sink?.end()
  }
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: {
      open(reader) {
        sink = reader
        queueMicrotask(deliver)
        return { pause: () => undefined, resume: () => undefined, cancel: () => (sink = undefined) }
      },
    },
  }
}
