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
  Usage,
} from '../../engine/index.ts'
import type { EventRoom } from '../../engine/kit.ts'
import { EventRules } from './event-rules.ts'
import { GateStep, isLast } from './gate-step.ts'
import type { GatePlace } from './gate-step.ts'

/** What surrounds the handlers of an answer. */
export interface Surroundings {
  readonly host: Host
  readonly scope: Scope
}

const none: readonly never[] = []

const over = new Error('the answer has ended')

/** Milliseconds that an exchange waits for judgements that are out when it ends. */
const patience = 5_000

/** Passes the events of one answer through the watchers, maps and gates of its stages. */
export class EventHandlers implements GatePlace {
  readonly #handlers: readonly EventHandler[]
  readonly #place: Surroundings
  #steps: readonly (Step | GateStep)[] = none
  /** The watched bytes cannot be parsed any further. */
  #blind = false
  /** The error with which a stage ended the answer. */
  #refusal: { readonly error: unknown } | undefined
  readonly #gates: GateStep[] = []
  #ending: AbortController | undefined
  #room: EventRoom | undefined
  /** Called when no judgement is out any more. */
  #idle: (() => void) | undefined
  isWhole = false
  isReading = false
  usage: () => Usage | undefined = () => undefined
  /** Takes events that gates release later, also none; absent: nobody waits for them. */
  released: ((events: readonly GenerateEvent[]) => void) | undefined
  /** Called when the exchange or the try has ended. */
  over: (() => void) | undefined
  /** Called when the exchange or the try is aborted. */
  aborted: ((reason: Error) => void) | undefined

  constructor(handlers: readonly EventHandler[], place: Surroundings) {
    this.#handlers = handlers
    this.#place = place
    place.scope.onEnd?.(() => this.#leave())
    if (!handlers.some((handler) => 'gate' in handler)) return
    this.#ending = new AbortController()
    place.scope.onAbort((reason) => this.abort(reason))
  }

  /** Whether there are gates, so that events may come out later. */
  get hasGates(): boolean {
    return this.#ending !== undefined
  }

  get signal(): AbortSignal {
    return (this.#ending ??= new AbortController()).signal
  }

  get room(): EventRoom {
    return (this.#room ??= eventRoom(this.#place.host, this.#place.scope))
  }

  /** Whether gates hold so much that no more should be read. */
  get isFull(): boolean {
    return this.#gates.some(({ isFull }) => isFull)
  }

  /** Whether the gates that the reply waits for have judged. */
  get hasJudged(): boolean {
    return this.#steps !== none && this.#gates.every(({ isFirst, hasJudged, ended }) => !isFirst || hasJudged || ended)
  }

  /** Whether the reply waits for a gate. */
  get delaysReply(): boolean {
    return this.#handlers.some((handler) => 'gate' in handler && handler.before === 'reply')
  }

  /** Whether the last event has not come out of a gate. */
  get holds(): boolean {
    return this.#gates.some(({ ended }) => !ended)
  }

  /** The error with which a stage ended the answer, if one did. */
  get refusal(): unknown {
    return this.#refusal?.error
  }

  /** The events to emit now for one event; none after `finish` or `failure`. */
  pass(event: GenerateEvent): readonly GenerateEvent[] {
    if (this.#steps === none) this.#steps = this.#handlers.map((handler) => this.#made(handler))
    return this.#from(0, [event])
  }

  /** Lets `take` pass all events of one read; gates that want them together judge them then. */
  reading(take: () => void): void {
    this.isReading = true
    try {
      take()
      for (const gate of this.#gates) if (gate.settles) this.later((given) => gate.settle(given), gate)
    } finally {
      this.isReading = false
    }
  }

  later(release: (given: GenerateEvent[]) => void, step: GateStep): void {
    const given: GenerateEvent[] = []
    try {
      release(given)
    } catch (error) {
      given.push(this.#failed(step, error))
    }
    const events = this.#from(this.#steps.indexOf(step) + 1, given)
    this.released?.(events)
    if (!this.#isJudging) this.#idle?.()
  }

  #from(first: number, given: readonly GenerateEvent[]): readonly GenerateEvent[] {
    let events = given
    for (let at = first; at < this.#steps.length; at++)
      events = this.#through(this.#steps[at] as Step | GateStep, events)
    return events
  }

  #made(handler: EventHandler): Step | GateStep {
    if ('look' in handler) return new Step(watching(handler, this.#place), handler)
    try {
      if ('make' in handler) return new Step(handler.make(), handler)
      const gate = new GateStep(handler.gate(), handler, this)
      this.#gates.push(gate)
      return gate
    } catch (error) {
      // Nothing of the answer may pass unchanged, so its first event already fails.
      const fails = () => {
        throw error
      }
      return new Step({ event: fails }, handler)
    }
  }

  /** The answer has stopped without an end: the handlers get a failure. */
  end(error: unknown): void {
    this.#ending?.abort(error)
    this.pass(failure(error, this.#place))
    this.over?.()
  }

  /** The exchange or the try has ended. */
  #leave(): void {
    if (this.#steps === none || this.#steps.some((step) => !step.ended))
      return this.end(new GatewayError('client_closed'))
    // An error of its own for each answer would have a stack, which takes longer than many a judgement.
    this.#ending?.abort(over)
    this.over?.()
  }

  /** The client has left, or the time of the stage is over: nobody waits for a judgement. */
  abort(reason: Error): void {
    this.#ending?.abort(reason)
    this.aborted?.(reason)
  }

  get #isJudging(): boolean {
    return this.#gates.some(({ isJudging }) => isJudging)
  }

  /** Resolves when no judgement is out any more, or after 5 seconds, when its verdict is dropped; undefined: none is. */
  judged(): Promise<void> | undefined {
    if (!this.#isJudging) return undefined
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        const { host, scope } = this.#place
        for (const gate of this.#gates) {
          if (gate.isJudging) host.log.warn({ id: scope.id, at: gate.at }, 'a judgement took too long after its answer')
          gate.end()
        }
        this.#idle?.()
      }, patience)
      this.#idle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /**
   * Passes a whole answer as the events of a stream, and as one window of each gate. Throws, or rejects with, the error
   * with which a stage ends it.
   */
  reply(reply: GenerateReply): GenerateReply | Promise<GenerateReply> {
    this.isWhole = true
    this.usage = () => reply.usage
    const events = [...unfold(reply)].flatMap((event) => this.pass(event))
    if (!this.holds) return this.#folded(events)
    return new Promise((resolve, reject) => {
      this.aborted = reject
      this.released = (more) => {
        for (const event of more) events.push(event)
        if (this.holds) return
        try {
          resolve(this.#folded(events))
        } catch (error) {
          reject(asGatewayError(error))
        }
      }
    })
  }

  #folded(events: readonly GenerateEvent[]): GenerateReply {
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

  #through(step: Step | GateStep, events: readonly GenerateEvent[]): readonly GenerateEvent[] {
    const given: GenerateEvent[] = []
    try {
      for (const event of events) step.pass(event, given)
    } catch (error) {
      given.push(this.#failed(step, error))
    }
    return given
  }

  /** A step has thrown an error, and ends the answer with it. */
  #failed(step: Step | GateStep, error: unknown): GenerateEvent {
    this.#refusal ??= { error }
    step.end()
    const { at } = step
    const { code, cause } = asGatewayError(error)
    const what = step instanceof GateStep ? 'a stage failed to judge an answer' : 'a stage failed to change an answer'
    if (code === 'internal_error') this.#place.host.log.error({ err: cause, id: this.#place.scope.id, at }, what)
    return failure(error, this.#place)
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

  end(): void {
    this.ended = true
  }
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
