import { EventSourceParserStream } from 'eventsource-parser/stream'
import { post, reasonOf, Refused, requestIdOf } from './post.ts'
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
  /** Why it is not whole: words of the gateway or of the provider, or that it was stopped or broke off. */
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
  try {
    const response = await post(outgoing(message), key, signal)
    requestId = requestIdOf(response)
    yield progress(false)
    const text = response.body?.pipeThrough(new TextDecoderStream())
    for await (const { data } of text?.pipeThrough(new EventSourceParserStream()) ?? []) {
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
  } catch (failure) {
    error = reasonOf(failure, signal)
    if (failure instanceof Refused) requestId = failure.requestId
  }
  yield progress(true)
}
