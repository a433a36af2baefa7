import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { RunningGateway } from './gateway.ts'

type At = Pick<RunningGateway, 'url' | 'key'>

/** The official client of chat completions, embeddings, images and audio. It does not try again. */
export function openai({ url, key }: At, how: { readonly fetch?: typeof fetch } = {}): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, ...how })
}

/** The official client of messages. It does not try again. */
export function anthropic({ url, key }: At, how: { readonly fetch?: typeof fetch } = {}): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0, ...how })
}
