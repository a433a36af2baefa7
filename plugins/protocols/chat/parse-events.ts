import { isObject, parsedObject } from '../../../engine/kit.ts'
import type {
  EventParser,
  Failure,
  Frame,
  GenerateEvent,
  Json,
  JsonObject,
  Offer,
  Restore,
  StopReason,
  Usage,
} from '../../../engine/index.ts'
import { streamFailure } from './errors.ts'
import { Events } from './events.ts'
import { CallParser } from './parse-call-events.ts'
import { ReasoningParser } from './parse-reasoning-events.ts'
import { TextParser } from './parse-text-events.ts'
import { parseStop } from './stop.ts'
import { ThinkTags } from './think-tags.ts'
import type { Told } from './think-tags.ts'
import { parseUsage } from './usage.ts'

/** Parses the chunks of an upstream. The end is emitted once usage is known, which may follow the finish. */
export class ChatParser implements EventParser<GenerateEvent> {
  readonly #events = new Events()
  readonly #text = new TextParser(this.#events)
  readonly #reasoning = new ReasoningParser(this.#events, () => this.#text.close())
  readonly #calls: CallParser
  readonly #tags: ThinkTags | undefined
  #id: string | undefined
  #started = false
  #ended = false
  #reason: string | undefined
  #usage: Usage | undefined

  constructor(restore?: Restore, offer?: Offer) {
    this.#calls = new CallParser(this.#events, restore)
    this.#tags = offer?.traits?.['think_tags'] === true ? new ThinkTags() : undefined
  }

  parse({ event, data }: Frame): GenerateEvent[] {
    if (this.#ended) return []
    if (data === '[DONE]') return this.finish(true)
    const chunk = parsedObject(data)
    return chunk ? this.chunk(chunk, event) : this.#fail(broken('sent an event that cannot be read'))
  }

  end(): GenerateEvent[] {
    return this.#ended ? [] : this.finish(false)
  }

  /** Takes one parsed chunk, and the name of its event, if any. */
  chunk(chunk: JsonObject, event?: string): GenerateEvent[] {
    const failure = streamFailure(chunk, event)
    if (failure) return this.#fail(failure)
    const choice = firstChoice(chunk['choices'])
    if (!this.#started && (choice || chunk['id'])) this.#start(chunk)
    const usage = chunk['usage'] ?? choice?.['usage']
    if (isObject(usage)) this.#usage = parseUsage(usage)
    if (!choice) return this.#events.take()
    if (isObject(choice['delta'])) this.#delta(choice['delta'], choice['logprobs'])
    const reason = choice['finish_reason']
    if (reason === 'error') return this.#fail(broken('failed while it answered'))
    if (typeof reason === 'string' && reason !== '') this.#reason = reason
    return this.#events.take()
  }

  /** Closes the answer. `done`: the upstream marked it as complete. */
  finish(done: boolean): GenerateEvent[] {
    const stop = this.#stop(done)
    if (!stop) return this.#fail(broken('ended before it was complete'))
    if (!this.#started) this.#start({})
    if (this.#tags) this.#tell(this.#tags.end())
    this.#reasoning.close()
    this.#text.close()
    if (!this.#calls.close()) return this.#fail(broken('called a tool without a name'))
    this.#ended = true
    this.#events.push({ type: 'finish', stop, ...(this.#usage ? { usage: this.#usage } : {}) })
    return this.#events.take()
  }

  #stop(done: boolean): StopReason | undefined {
    const held = { calls: this.#calls.any, refused: this.#text.refused }
    const stop = this.#reason === undefined ? undefined : parseStop(this.#reason, held)
    return stop ?? (done && this.#events.any ? parseStop('stop', held) : undefined)
  }

  #start({ id, model, created, service_tier: serviceTier }: JsonObject): void {
    this.#started = true
    this.#id = typeof id === 'string' && id !== '' ? id : undefined
    this.#events.push({
      type: 'start',
      ...(this.#id === undefined ? {} : { id: this.#id }),
      ...(typeof model === 'string' && model !== '' ? { model } : {}),
      ...(typeof created === 'number' ? { created } : {}),
      ...(typeof serviceTier === 'string' ? { serviceTier } : {}),
    })
  }

  #delta(delta: JsonObject, logprobs: Json | undefined): void {
    const { content, refusal, reasoning_details: details, annotations, tool_calls: calls, function_call: call } = delta
    if (Array.isArray(details)) this.#reasoning.details(details)
    const reasoning = delta['reasoning_content'] || delta['reasoning']
    if (typeof reasoning === 'string' && reasoning !== '') this.#reasoning.bare(reasoning)
    if (typeof content === 'string') this.#content(content, logprobs)
    else if (Array.isArray(content)) this.#parts(content)
    if (typeof refusal === 'string') this.#say('refusal', refusal, logprobs)
    if (Array.isArray(annotations)) this.#text.annotations(annotations)
    if (Array.isArray(calls) && calls.length > 0) this.#call(calls)
    // The legacy `function_call` field: one call, without an id.
    if (isObject(call)) this.#call([{ index: 0, function: call }])
  }

  #content(content: string, logprobs: Json | undefined): void {
    const told = this.#tags?.push(content)
    if (!told || told.said === content) this.#say('text', content, logprobs)
    else this.#tell(told)
  }

  #tell({ thought, said }: Told): void {
    if (thought !== '') this.#reasoning.bare(thought)
    this.#say('text', said, undefined)
  }

  #say(kind: 'text' | 'refusal', text: string, logprobs: Json | undefined): void {
    if (text === '') return
    this.#reasoning.close()
    this.#text.text(kind, text, logprobs)
  }

  /** Content as a list of parts, some of which may be thinking. */
  #parts(parts: readonly Json[]): void {
    for (const part of parts) {
      if (!isObject(part)) continue
      const thought = part['thinking']
      if (typeof part['text'] === 'string') this.#say('text', part['text'], undefined)
      else if (typeof thought === 'string') this.#reasoning.bare(thought)
      else if (Array.isArray(thought))
        for (const { text } of thought.filter(isObject)) if (typeof text === 'string') this.#reasoning.bare(text)
    }
  }

  #call(list: readonly Json[]): void {
    this.#reasoning.close()
    this.#text.close()
    this.#calls.read(list, this.#id)
  }

  #fail(failure: Failure): GenerateEvent[] {
    this.#ended = true
    this.#events.push({ type: 'failure', failure })
    return this.#events.take()
  }
}

/** A failure of the stream itself. */
function broken(what: string): Failure {
  return { status: 502, code: 'upstream_error', type: 'server_error', message: `The provider ${what}.`, param: null }
}

function firstChoice(choices: Json | undefined): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined
  const [first] = choices
  return isObject(first) && (first['index'] === undefined || first['index'] === 0)
    ? first
    : choices.filter(isObject).find(({ index }) => index === 0)
}
