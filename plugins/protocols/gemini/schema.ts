import type { JsonObject } from '../../../engine/index.ts'
import { bothSpellings } from './spelling.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const flag = { type: ['boolean', 'null'] } as const
const number = { type: ['number', 'null'] } as const
const integer = { type: ['integer', 'null'] } as const
const object = { type: ['object', 'null'] } as const

function fields(properties: Readonly<Record<string, JsonObject>>, required: readonly string[] = []): JsonObject {
  return { type: 'object', required, properties: bothSpellings(properties) }
}

const nullable = (schema: JsonObject): JsonObject => ({ ...schema, type: [schema.type ?? 'object', 'null'] })

const part = fields({
  text: textOrNull,
  thought: flag,
  thoughtSignature: textOrNull,
  inlineData: nullable(fields({ mimeType: text, data: text })),
  fileData: nullable(fields({ mimeType: textOrNull, fileUri: text }, [])),
  functionCall: nullable(fields({ id: textOrNull, name: text, args: object }, ['name'])),
  functionResponse: nullable(fields({ id: textOrNull, name: text, response: object }, ['name'])),
})
const parts = { type: 'array', items: part } as const
const content = fields({ role: { enum: ['user', 'model', 'function', null] }, parts })

/** The body of `generateContent`; `model` and `stream` come from its address. */
export const schema: JsonObject = {
  type: 'object',
  examples: [{ contents: [{ role: 'user', parts: [{ text: 'Hello.' }] }] }],
  required: ['model', 'contents'],
  properties: {
    model: { type: 'string', minLength: 1 },
    stream: { type: 'boolean' },
    ...bothSpellings<JsonObject>({
      contents: { type: 'array', minItems: 1, items: content },
      systemInstruction: nullable(fields({ role: textOrNull, parts })),
      tools: {
        type: ['array', 'null'],
        items: fields({ functionDeclarations: { type: ['array', 'null'], items: declaration() } }),
      },
      toolConfig: nullable(
        fields({
          functionCallingConfig: nullable(
            fields({ mode: textOrNull, allowedFunctionNames: { type: ['array', 'null'], items: text } }),
          ),
        }),
      ),
      safetySettings: { type: ['array', 'null'], items: { type: 'object' } },
      serviceTier: textOrNull,
      cachedContent: textOrNull,
      generationConfig: nullable(generationConfig()),
    }),
  },
}

function declaration(): JsonObject {
  return fields({ name: text, description: textOrNull, parameters: object, parametersJsonSchema: object }, ['name'])
}

function generationConfig(): JsonObject {
  return fields({
    temperature: number,
    topP: number,
    topK: number,
    maxOutputTokens: { type: ['integer', 'null'], minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    stopSequences: { type: ['array', 'null'], items: text },
    candidateCount: integer,
    seed: integer,
    presencePenalty: number,
    frequencyPenalty: number,
    responseLogprobs: flag,
    logprobs: { type: ['integer', 'null'], minimum: 0, maximum: 20 },
    responseMimeType: textOrNull,
    responseSchema: object,
    responseJsonSchema: object,
    thinkingConfig: nullable(fields({ includeThoughts: flag, thinkingBudget: integer, thinkingLevel: textOrNull })),
  })
}
