import type { JsonObject } from '../../engine/index.ts'

const text = { type: ['string', 'null'] } as const
const truth = { type: ['boolean', 'null'] } as const
const count = { type: ['integer', 'null'] } as const
const share = { type: ['number', 'null'] } as const
const map = { type: ['object', 'null'] } as const

/**
 * Body of `POST /v1/responses`. Only known fields are checked. Null means absent, as official clients send it. Items of
 * any type are allowed: unknown ones are forwarded, never rejected.
 */
export const schema = {
  type: 'object',
  required: ['model', 'input'],
  properties: {
    model: { type: 'string', minLength: 1, description: 'Model that answers.' },
    input: {
      type: ['string', 'array'],
      items: { type: 'object' },
      description: 'A text, or the items of the conversation.',
    },
    instructions: { type: ['string', 'array', 'null'], items: { type: 'object' }, description: 'System text.' },
    stream: { ...truth, description: 'Answer in server-sent events.' },
    stream_options: {
      ...map,
      properties: { include_obfuscation: truth },
      description: 'Usage is always reported, so `include_usage` is refused.',
    },
    store: { ...truth, description: 'Store the response for later requests; default true.' },
    background: {
      ...truth,
      description: 'Answer at once and continue in the background; implies `store` and is never streamed.',
    },
    previous_response_id: { ...text, description: 'Id of the response to continue.' },
    conversation: { type: ['string', 'object', 'null'], description: 'For native upstreams only.' },
    prompt: { ...map, description: 'For native upstreams only.' },
    include: {
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'Additional output; unknown values are allowed.',
    },
    truncation: { enum: ['auto', 'disabled', null], description: 'Treatment of a conversation that is too long.' },
    max_output_tokens: {
      ...count,
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Most tokens to answer with, reasoning included.',
    },
    max_tool_calls: { ...count, minimum: 1, description: 'Most calls of built-in tools.' },
    temperature: { ...share, minimum: 0, maximum: 2, description: 'Randomness.' },
    top_p: { ...share, minimum: 0, maximum: 1, description: 'Share of probability to sample from.' },
    top_logprobs: { ...count, minimum: 0, maximum: 20, description: 'Alternatives to report with each token.' },
    reasoning: {
      ...map,
      properties: { effort: text, summary: text, generate_summary: text, mode: text, context: text },
      description: 'Effort of the reasoning, and its visible summary.',
    },
    text: {
      ...map,
      properties: {
        format: {
          ...map,
          required: ['type'],
          properties: { type: { type: 'string' }, name: text, description: text, schema: map, strict: truth },
        },
        verbosity: text,
      },
      description: 'Form of the answer.',
    },
    tools: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['type'],
        properties: { type: { type: 'string' }, description: text, parameters: map, strict: truth },
      },
      description: 'Tools the model may call.',
    },
    tool_choice: { type: ['string', 'object', 'null'], description: 'Which tools may or must be called.' },
    parallel_tool_calls: { ...truth, description: 'Whether one turn may have several calls.' },
    metadata: {
      ...map,
      maxProperties: 16,
      propertyNames: { maxLength: 64 },
      additionalProperties: { type: 'string', maxLength: 512 },
      description: 'Up to 16 pairs, echoed.',
    },
    service_tier: { ...text, description: 'How the request is served and billed.' },
    safety_identifier: { ...text, description: 'Identifies the end user.' },
    prompt_cache_key: { ...text, description: 'Requests with the same key share a prompt cache.' },
    user: { ...text, description: 'Older name of `safety_identifier`.' },
  },
} as const satisfies JsonObject
