import { EventSourceParserStream } from 'eventsource-parser/stream'
import { post, Refused, requestIdOf } from './post.ts'
import type { Outgoing } from './post.ts'
import { protocols } from './protocols.ts'
import type { Data, Parameters, ProtocolName, Told, Turn } from './protocols.ts'

export interface Message {
  readonly protocol: ProtocolName
  readonly model: string
  readonly turns: readonly Turn[]
  readonly parameters: Parameters
}

/** How an answer stands, after each event. */
export interface Progress {
  readonly text: string
  /** Milliseconds from sending to the first text. */
  readonly firstText: number | null
  /** Milliseconds from sending until now. */
  readonly took: number
  readonly outputTokens: number | null
  readonly model: string | null
  readonly requestId: string | null
  /** Words of the gateway or of the provider. */
  readonly error: string | null
  readonly done: boolean
}

export function outgoing({ protocol, model, turns, parameters }: Message): Outgoing {
  const { path, headers, body } = protocols[protocol]
  return { path, headers, body: body(model, turns, parameters) }
}

/** Sends a message with an API key, as any client does, and tells how the answer grows. */
export async function* send(message: Message, key: string, signal: AbortSignal): AsyncGenerator<Progress> {
  const { read } = protocols[message.protocol]
  const start = performance.now()
  const state = {
    text: '',
    firstText: null as number | null,
    outputTokens: null as number | null,
    model: null as string | null,
  }
  let error: string | null = null
  let requestId: string | null = null
  const progress = (done: boolean): Progress => ({ ...state, took: performance.now() - start, requestId, error, done })
  let response: Response
  try {
    response = await post(outgoing(message), key, signal)
  } catch (refusal) {
    if (!(refusal instanceof Refused)) throw refusal
    error = refusal.message
    requestId = refusal.requestId
    yield progress(true)
    return
  }
  requestId = requestIdOf(response)
  if (!response.body) return yield progress(true)
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const { data } of events) {
    if (data === '[DONE]') break
    const said: Told = read(JSON.parse(data) as Data)
    if (said.text) {
      state.firstText ??= performance.now() - start
      state.text += said.text
    }
    state.outputTokens = said.outputTokens ?? state.outputTokens
    state.model = said.model ?? state.model
    error = said.error ?? error
    yield progress(false)
  }
  yield progress(true)
}
