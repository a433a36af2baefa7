import { GatewayError } from '../../engine/index.ts'
import {
  FrameDecoder,
  asGatewayError,
  eventRoom,
  failed,
  fold,
  scrubbedFailure,
  through,
  unfold,
} from '../../engine/kit.ts'
import type {
  EventMap,
  EventParser,
  Frame,
  GenerateEvent,
  GenerateReply,
  Host,
  Look,
  Scope,
  Source,
  EventHandler,
} from '../../engine/index.ts'
import { EventRules } from './event-rules.ts'

interface Surroundings {
  readonly host: Host
  readonly scope: Scope
}

/** Passes the events of one answer through the watchers and maps of its stages. */
export class EventHandlers {
  readonly #handlers: readonly EventHandler[]
  readonly #place: Surroundings
  #steps: readonly Step[] | undefined
  /** The watched bytes cannot be parsed any further. */
  #blind = false
  /** The error with which a stage ended the answer. */
  #refusal: { readonly error: unknown } | undefined

  constructor(handlers: readonly EventHandler[], place: Surroundings) {
    this.#handlers = handlers
    this.#place = place
    place.scope.onEnd?.(() => this.end(new GatewayError('client_closed')))
  }

  /** The events to emit for one event; none after `finish` or `failure`. */
  pass(event: GenerateEvent): readonly GenerateEvent[] {
    this.#steps ??= this.#handlers.map((handler) => new Step(this.#made(handler), handler))
    let events: readonly GenerateEvent[] = [event]
    for (const step of this.#steps) events = this.#through(step, events)
    return events
  }

  #made(handler: EventHandler): EventMap {
    if ('look' in handler) return watching(handler, this.#place)
    try {
      if ('make' in handler) return handler.make()
      throw new Error('a handler neither changes nor looks at events')
    } catch (error) {
      // Nothing of the answer may pass unchanged, so its first event already fails.
      return {
        event: () => {
          throw error
        },
      }
    }
  }

  /** The answer has stopped without an end: the handlers get a failure. */
  end(error: unknown): void {
    this.pass(failure(error, this.#place))
  }

  /** Passes a whole answer as the events of a stream. Throws the error with which a stage ends it. */
  reply(reply: GenerateReply): GenerateReply {
    const events = [...unfold(reply)].flatMap((event) => this.pass(event))
    if (this.#refusal) throw this.#refusal.error
    const last = events.at(-1)
    if (last?.type === 'failure') throw failed(last, 'refused')
    return fold(events)
  }

  /** Watches a whole answer that is sent to the client unchanged. */
  look(read: () => GenerateReply): void {
    this.#looking(() => unfold(read()))
  }

  /** Passes the bytes of a stream unchanged, and watches its events; `shown` maps them to what a client may see. */
  watched(source: Source, reader: EventParser<GenerateEvent>, shown: (event: GenerateEvent) => GenerateEvent): Source {
    const decoder = new FrameDecoder(eventRoom(this.#place.host, this.#place.scope))
    const read = (frames: readonly Frame[]) => frames.flatMap((frame) => [...reader.parse(frame)].map(shown))
    return through(source, {
      data: (chunk) => {
        this.#looking(() => read(decoder.push(chunk)))
        return chunk
      },
      end: () => {
        this.#looking(() => [...read(decoder.end()), ...[...reader.end()].map(shown)])
        return undefined
      },
      fail: (error) => {
        this.end(error)
        return undefined
      },
    })
  }

  /** An unparseable stream does not affect a client that gets the bytes unchanged: only watchers get the failure. */
  #looking(events: () => Iterable<GenerateEvent>): void {
    if (this.#blind) return
    try {
      for (const event of events()) this.pass(event)
    } catch (error) {
      this.#blind = true
      this.end(error)
    }
  }

  #through(step: Step, events: readonly GenerateEvent[]): readonly GenerateEvent[] {
    const given: GenerateEvent[] = []
    try {
      for (const event of events) step.pass(event, given)
      return given
    } catch (error) {
      this.#refusal ??= { error }
      step.ended = true
      const { at } = step
      const { code, cause } = asGatewayError(error)
      if (code === 'internal_error')
        this.#place.host.log.error({ err: cause, id: this.#place.scope.id, at }, 'a stage failed to change an answer')
      return [...given, failure(error, this.#place)]
    }
  }
}

/** Wraps a handler: it receives and emits nothing after the last event. */
class Step {
  readonly #map: EventMap
  /** Absent for watchers, which return what they got. */
  readonly #rules: EventRules | undefined
  /** The stage that added the handler. */
  readonly at: string | undefined
  ended = false

  constructor(map: EventMap, handler: EventHandler) {
    this.#map = map
    this.#rules = 'make' in handler ? new EventRules() : undefined
    this.at = handler.at
  }

  pass(event: GenerateEvent, given: GenerateEvent[]): void {
    if (this.ended) return
    const last = isLast(event)
    this.ended = last
    for (const one of this.#map.event(event)) {
      this.#rules?.check(one)
      given.push(one)
      if (!isLast(one)) continue
      this.ended = true
      return
    }
    if (last) given.push(event)
  }
}

function isLast({ type }: GenerateEvent): boolean {
  return type === 'finish' || type === 'failure'
}

function watching({ look, at }: EventHandler & { readonly look: Look }, { host, scope }: Surroundings): EventMap {
  let looking = true
  return {
    event(event) {
      try {
        if (looking) look(event)
      } catch (error) {
        looking = false
        host.log.error({ err: error, id: scope.id, at }, 'a stage failed to look at an answer')
      }
      return [event]
    },
  }
}

function failure(error: unknown, { host }: Surroundings): Extract<GenerateEvent, { type: 'failure' }> {
  return { type: 'failure', failure: scrubbedFailure(asGatewayError(error).failure, host.scrub) }
}
