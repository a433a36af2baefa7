/** One turn of the conversation. */
export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** The model that was asked. It is not sent. */
  readonly model?: string
}

/** What the user set; a value that is `null` is not sent. */
export interface Parameters {
  readonly system: string
  readonly maxTokens: number | null
  readonly temperature: number | null
}

/** What one event of a stream says. */
export interface Told {
  /** Text to append. */
  readonly text?: string
  /** Tokens of the whole answer. */
  readonly outputTokens?: number
  /** The model that answered. */
  readonly model?: string
  /** The stream ended with an error in these words. */
  readonly error?: string
}

/** A protocol of clients that the playground can speak. */
export interface Protocol {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: (model: string, turns: readonly Turn[], parameters: Parameters) => Readonly<Record<string, unknown>>
  /** Reads the data of one event. */
  readonly read: (data: Data) => Told
}

/** The data of an event, as far as the playground reads it. */
export interface Data {
  readonly type?: string
  readonly model?: string
  readonly delta?: string | { readonly text?: string }
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
  readonly usage?: Counted | null
  readonly message?: { readonly model?: string } | string
  readonly response?: {
    readonly model?: string
    readonly usage?: Counted
    readonly error?: { readonly message?: string } | null
  }
  readonly error?: { readonly message?: string } | string
}

interface Counted {
  readonly completion_tokens?: number
  readonly output_tokens?: number
}

const messagesOf = (turns: readonly Turn[]) => turns.map(({ role, text }) => ({ role, content: text }))
const present = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== ''))

const chat: Protocol = {
  path: '/v1/chat/completions',
  headers: {},
  body: (model, turns, { system, maxTokens, temperature }) => ({
    model,
    messages: [...(system ? [{ role: 'system', content: system }] : []), ...messagesOf(turns)],
    ...present({ max_completion_tokens: maxTokens, temperature }),
    stream: true,
    stream_options: { include_usage: true },
  }),
  read: ({ choices, usage, model, error }) => ({
    ...told('text', choices?.[0]?.delta?.content),
    ...told('outputTokens', usage?.completion_tokens),
    ...told('model', model),
    ...told('error', messageOf(error)),
  }),
}

const messages: Protocol = {
  path: '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  body: (model, turns, { system, maxTokens, temperature }) => ({
    model,
    // The protocol has no request without a limit.
    max_tokens: maxTokens ?? 4096,
    ...present({ system, temperature }),
    messages: messagesOf(turns),
    stream: true,
  }),
  read: ({ delta, usage, message, error }) => ({
    ...told('text', typeof delta === 'object' ? delta.text : undefined),
    ...told('outputTokens', usage?.output_tokens),
    ...told('model', typeof message === 'object' ? message.model : undefined),
    ...told('error', messageOf(error)),
  }),
}

const responses: Protocol = {
  path: '/v1/responses',
  headers: {},
  body: (model, turns, { system, maxTokens, temperature }) => ({
    model,
    ...present({ instructions: system, max_output_tokens: maxTokens, temperature }),
    input: messagesOf(turns),
    stream: true,
    store: false,
  }),
  read: ({ type, delta, response, error, message }) => ({
    ...told('text', type === 'response.output_text.delta' && typeof delta === 'string' ? delta : undefined),
    ...told('outputTokens', response?.usage?.output_tokens),
    ...told('model', response?.model),
    ...told('error', type === 'error' ? (messageOf(error) ?? messageOf(message)) : response?.error?.message),
  }),
}

/** By the word that the log has for them. */
export const protocols = { chat, messages, responses } as const
export type ProtocolName = keyof typeof protocols

function told<K extends keyof Told>(name: K, value: Told[K] | null): Told {
  return value === undefined || value === null ? {} : { [name]: value }
}

function messageOf(error: Data['error'] | Data['message']): string | undefined {
  if (typeof error === 'string') return error
  return error !== undefined && 'message' in error ? error.message : undefined
}
