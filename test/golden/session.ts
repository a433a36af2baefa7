import { FrameDecoder } from '../../engine/kit.ts'
import { awsMessage } from '../support/aws-event-stream.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { copyPipelines } from '../support/pipelines.ts'
import type { Pipelines } from '../support/pipelines.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import type { JsonObject } from '../../engine/index.ts'
import { text } from './files.ts'
import { addressed, settings } from './pairs.ts'
import type { Client, Spoken } from './pairs.ts'
import { fieldOf } from './turns.ts'

/** What a client was answered. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** A stream, to be sent in one piece. */
interface Framed {
  readonly headers: Record<string, string>
  readonly chunks: readonly [Buffer]
}

/** What an upstream answers with a case of `answers`, as a stream in the framing of its protocol. */
export function streamOf(protocol: Spoken, name: string): Framed {
  return framed(protocol, text(`answers/${name}.${protocol}.frames.txt`))
}

/** The same as a whole. */
export function wholeOf(protocol: Spoken, name: string): Script {
  return { headers: { 'content-type': 'application/json' }, chunks: [text(`answers/${name}.${protocol}.json`)] }
}

/** A transcript of a stream in the framing of its protocol. */
function framed(protocol: Spoken, transcript: string): Framed {
  const bytes = Buffer.from(transcript)
  if (protocol !== 'converse') return { headers: { 'content-type': 'text/event-stream' }, chunks: [bytes] }
  const decoder = new FrameDecoder()
  const messages = [...decoder.push(bytes), ...decoder.end()].map(({ event = '', data }) => {
    const kind = event.endsWith('Exception') ? 'exception' : 'event'
    return awsMessage({ [`:${kind}-type`]: event, ':content-type': 'application/json', ':message-type': kind }, data)
  })
  return { headers: { 'content-type': 'application/vnd.amazon.eventstream' }, chunks: [Buffer.concat(messages)] }
}

/** A gateway and its upstream, for the tests of one `describe`. */
export class Session {
  upstream!: ScriptedUpstream
  gateway!: RunningGateway
  #pipelines!: Pipelines

  /** Opens both before the tests of the calling `describe`, and closes them after. */
  constructor() {
    before(async () => {
      this.upstream = await scriptedUpstream()
      this.#pipelines = await copyPipelines()
      // The addresses in the cases are nobody's: files stay what they are.
      await this.#pipelines.edit('generate.yaml', '- inline-files', '#')
      this.gateway = await startGateway({ ...settings(this.upstream.url), pipelines: this.#pipelines.folder })
    })
    after(async () => {
      await this.gateway.close()
      await this.upstream.close()
      await this.#pipelines.remove()
    })
  }

  /** What the upstream answers from now on: this text, as a whole, or as a stream of its protocol. */
  answer(chunk: string, stream?: Spoken): void {
    this.upstream.answer(
      stream ? framed(stream, chunk) : { headers: { 'content-type': 'application/json' }, chunks: [chunk] },
    )
  }

  /** A client's request to `model`: the least there can be, and what is given. */
  async ask(client: Client, model: string, given: object, headers: Record<string, string> = {}): Promise<Answered> {
    const least = client === 'messages' ? { max_tokens: 100 } : {}
    const said = client === 'gemini' ? { role: 'user', parts: [{ text: 'Hello' }] } : { role: 'user', content: 'Hello' }
    const request = { ...least, [fieldOf(client)]: [said], ...given, model }
    const { path, body } = addressed(client, request)
    const response = await this.gateway.post(path, body, headers)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  /** The body that the upstream got last. */
  asked(): JsonObject {
    return JSON.parse(this.upstream.requests.at(-1)?.body.toString() ?? '') as JsonObject
  }
}
