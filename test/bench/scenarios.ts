/** Which protocol a target's clients speak. */
export type Shape = 'chat' | 'messages'

export interface Scenario {
  readonly connections: number
  /** Seconds measured, after `ramp` seconds. */
  readonly seconds: number
  readonly ramp: number
  readonly unit: 'request' | 'chunk'
  body(shape: Shape): object
}

const words =
  'The gateway reads a request, picks a model and relays the answer as it arrives, "quoted" and new\nlines included. '
const parameters = {
  type: 'object',
  properties: { place: { type: 'string' }, unit: { enum: ['c', 'f'] } },
  required: ['place'],
}
const tool = { name: 'get_weather', description: 'Weather for a place' }

/** A request of about 2 KB for the mock model `model`. */
function body(shape: Shape, model: string, stream: boolean): object {
  const text = words.repeat(14).slice(0, 1500)
  const common = { model, temperature: 0.2, max_tokens: 256, ...(stream ? { stream: true } : {}) }
  if (shape === 'messages')
    return {
      ...common,
      system: 'You are a helpful assistant.',
      messages: [{ role: 'user', content: text }],
      tools: [{ ...tool, input_schema: parameters }],
    }
  const messages = [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: text },
  ]
  return { ...common, messages, tools: [{ type: 'function', function: { ...tool, parameters } }] }
}

const whole = (connections: number): Scenario => ({
  connections,
  seconds: 1.5,
  ramp: 0.25,
  unit: 'request',
  body: (shape) => body(shape, 'mock', false),
})
const stream = (connections: number, chunks: number, delay: number, seconds: number, ramp: number): Scenario => ({
  connections,
  seconds,
  ramp,
  unit: 'chunk',
  body: (shape) => body(shape, `mock-c${chunks}-d${delay}`, true),
})

export const scenarios = {
  json1: whole(1),
  json32: whole(32),
  /** As many chunks as go through. */
  'stream-burst': stream(16, 200, 0, 1.5, 0.4),
  /** Short streams: the delay added to the first byte. */
  'stream-ttfb': stream(8, 5, 4, 1.5, 0.2),
  /** Many slow streams: memory. */
  'stream-1000': stream(1000, 100, 40, 2, 1),
} satisfies Record<string, Scenario>
