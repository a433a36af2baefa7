import type { JsonObject } from '../../engine/index.ts'

export const clients = ['chat', 'messages', 'responses', 'gemini'] as const

/** A protocol that clients speak. */
export type Client = (typeof clients)[number]

/** A protocol that upstreams speak. */
export type Spoken = 'chat' | 'messages' | 'responses' | 'gemini' | 'converse'

/** A way through the gateway: to the model of this name, which is spoken to in this protocol. */
export interface Pair {
  readonly name: string
  readonly protocol: Spoken
  /** The answers are the same as on another way; only the requests differ. */
  readonly requestsOnly?: boolean
}

export const pairs: Readonly<Record<Client, readonly Pair[]>> = {
  chat: [
    { name: 'compatible', protocol: 'chat' },
    { name: 'native-chat', protocol: 'chat' },
    { name: 'responses', protocol: 'responses' },
    { name: 'messages', protocol: 'messages' },
    { name: 'bedrock', protocol: 'converse' },
    { name: 'gemini', protocol: 'gemini' },
  ],
  messages: [
    { name: 'messages', protocol: 'messages' },
    { name: 'compatible', protocol: 'chat' },
    { name: 'native-chat', protocol: 'chat', requestsOnly: true },
    { name: 'responses', protocol: 'responses' },
    { name: 'bedrock', protocol: 'converse' },
    { name: 'gemini', protocol: 'gemini' },
  ],
  responses: [
    { name: 'responses', protocol: 'responses' },
    { name: 'compatible', protocol: 'chat' },
    { name: 'native-chat', protocol: 'chat' },
    { name: 'messages', protocol: 'messages' },
    { name: 'bedrock', protocol: 'converse' },
    { name: 'gemini', protocol: 'gemini' },
  ],
  gemini: [
    { name: 'gemini', protocol: 'gemini' },
    { name: 'compatible', protocol: 'chat' },
    { name: 'native-chat', protocol: 'chat', requestsOnly: true },
    { name: 'responses', protocol: 'responses' },
    { name: 'messages', protocol: 'messages' },
    { name: 'bedrock', protocol: 'converse' },
  ],
}

export const cases: Readonly<Record<Client, readonly string[]>> = {
  chat: ['full', 'tools', 'custom', 'reasoning', 'refusal', 'search', 'length'],
  messages: ['full', 'tools', 'reasoning', 'refusal', 'search', 'length'],
  responses: ['full', 'tools', 'custom', 'reasoning', 'refusal', 'search', 'length'],
  gemini: ['full', 'tools', 'reasoning', 'refusal', 'search', 'length'],
}

/** Where a client sends its requests. */
const paths = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' } as const

/** A request as its client sends it: the address, and the body that remains. */
export function addressed(client: Client, body: JsonObject): { path: string; body: JsonObject } {
  if (client !== 'gemini') return { path: paths[client], body }
  const { model, stream, ...rest } = body
  const verb = stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return { path: `/v1beta/models/${model as string}:${verb}`, body: rest }
}

/** What a streamed request says beside everything a whole one says. */
export const streaming: Readonly<Record<Spoken, object>> = {
  chat: { stream: true, stream_options: { include_usage: true } },
  messages: { stream: true },
  responses: { stream: true },
  // The address says it.
  converse: {},
  gemini: {},
}

/** The same for `addressed`. */
export const streamed: Readonly<Record<Client, object>> = { ...streaming, gemini: { stream: true } }

/**
 * Providers and models: each pair has a model of its name, and another model of the same provider, `other-<name>`,
 * of a family that cannot read what the first one sealed.
 */
export function settings(base: string) {
  const providers = [
    { name: 'compatible', type: 'compatible', base_url: base, api_key: 'key', traits: { web_search: true } },
    { name: 'native', type: 'native', base_url: base, api_key: 'key' },
    { name: 'vendor', type: 'messages', base_url: base, api_key: 'key' },
    { name: 'aws', type: 'bedrock', base_url: base, api_key: 'key' },
    { name: 'google', type: 'gemini', base_url: base, api_key: 'key' },
  ]
  const ways = [
    { name: 'compatible', provider: 'compatible' },
    { name: 'native-chat', provider: 'native', protocols: ['chat'] },
    { name: 'responses', provider: 'native', protocols: ['responses'] },
    { name: 'messages', provider: 'vendor' },
    { name: 'bedrock', provider: 'aws' },
    { name: 'gemini', provider: 'google' },
  ]
  const models = ways.flatMap((way) => [
    { ...way, upstream_model: 'upstream-1' },
    { ...way, name: `other-${way.name}`, upstream_model: 'another-1' },
  ])
  return { providers, models }
}
