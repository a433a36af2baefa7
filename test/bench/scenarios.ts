/** Which protocol a target's clients speak. */
export type Shape = 'chat' | 'messages'

export interface Scenario {
  readonly operation: 'chat' | 'decisions'
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

/** A request for the mock model `model`: of about 2 KB, or more where its text is longer. */
function body(shape: Shape, model: string, stream: boolean, length = 1500): object {
  const text = words.repeat(Math.ceil(length / words.length)).slice(0, length)
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

/** Questions of about 2 KB with their evidence; the mock upstream knows the answers. */
function decisions(): object {
  return {
    model: 'judge',
    input: words.repeat(12).slice(0, 1200),
    questions: [
      { type: 'predicate', name: 'defect', instructions: 'Does the text report a defect of the product?' },
      {
        type: 'choice',
        name: 'team',
        instructions: 'Which team has to look into it first?',
        choices: [
          { value: 'web', description: 'Whatever runs in a browser.' },
          { value: 'data', description: 'Imports, exports and reports.' },
          { value: 'billing', description: 'Invoices, prices and payments.' },
        ],
      },
      {
        type: 'score',
        name: 'severity',
        instructions: 'How badly does it hurt the people who use the product?',
        levels: [{ label: 'low' }, { label: 'medium' }, { label: 'high' }],
      },
    ],
  }
}

const whole = (
  connections: number,
  operation: Scenario['operation'] = 'chat',
  make = (shape: Shape) => body(shape, 'mock', false),
): Scenario => ({ operation, connections, seconds: 1.5, ramp: 0.25, unit: 'request', body: make })
const stream = (connections: number, chunks: number, delay: number, seconds: number, ramp: number): Scenario => ({
  operation: 'chat',
  connections,
  seconds,
  ramp,
  unit: 'chunk',
  body: (shape) => body(shape, `mock-c${chunks}-d${delay}`, true),
})

export const scenarios = {
  json1: whole(1),
  json32: whole(32),
  /** A prompt of 2 MB: what passes over it cost. */
  'json-2mb': whole(4, 'chat', (shape) => body(shape, 'mock', false, 2_000_000)),
  /** Decisions: to an upstream of their own protocol, or translated for a bridge. */
  decisions: whole(32, 'decisions', decisions),
  /** As many chunks as go through. */
  'stream-burst': stream(16, 200, 0, 1.5, 0.4),
  /** Short streams: the delay added to the first byte. */
  'stream-ttfb': stream(8, 5, 4, 1.5, 0.2),
  /** Many slow streams: memory. */
  'stream-1000': stream(1000, 100, 40, 2, 1),
} satisfies Record<string, Scenario>
