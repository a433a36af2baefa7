import {
  bufferOf,
  encodeFrame,
  eventRoom,
  eventTooLarge,
  FrameDecoder,
  speaksToUpstreams,
  through,
  WholeFrames,
} from '../../engine/kit.ts'
import type {
  AnyCodec,
  Failure,
  Frame,
  Hidden,
  Measurement,
  Source,
  StreamKeeper,
  TellingCall,
  Unshown,
} from '../../engine/index.ts'
import type { EventRoom, Transform } from '../../engine/kit.ts'
import { namedEvents } from './answer-model.ts'
import { estimated, saidIn } from './estimated.ts'
import type { ClientAnswer, AnswerContext } from './answer-context.ts'
import { asked, eventStream } from './answer-context.ts'
import { HeadAndTail } from './head-and-tail.ts'
import { Deliveries, unitsOfStream } from './units.ts'
import { cutShort, failureOf } from './failure.ts'
import { announced, completed, farEnd, lately, metered, nearEnd, printed } from './stream-end.ts'
import type { Measured } from './stream-end.ts'
import { withoutSecrets } from './without-secrets.ts'

/** Bytes that usually contain the last event. */
const lastEvent = 512

/**
 * Relays a stream of the client's own protocol event by event, byte for byte, with lines that end in LF. An event that
 * is too large to buffer passes as it arrives. Usage is read from the head and tail of the stream once it is over. A
 * stream that breaks, or ends without the protocol's terminal event, ends with a failure of the protocol. If it breaks
 * inside a large event, the client's stream breaks, too.
 */
export function relayed(exchange: Passing, source: Source): ClientAnswer {
  const relay = new Relay(exchange)
  let told: ReturnType<Measurement['read']> | undefined
  return {
    body: eventStream(exchange, through(source, relay), () => relay.torn),
    measurement: { read: () => (told ??= { ...relay.measured(), losses: [] }), unshown: () => relay.unshown },
    losses: exchange.upstream.losses,
  }
}

/** An exchange whose client and provider speak the same protocol. */
type Passing = AnswerContext & { readonly codec: AnyCodec }

/** Whether the provider's answer can be relayed. */
export function passesOn(exchange: AnswerContext): exchange is Passing {
  return speaksToUpstreams(exchange.codec)
}

/** Relays the bytes of one stream. */
class Relay implements Transform {
  readonly #exchange: Passing
  readonly #ends = new HeadAndTail(farEnd)
  readonly #lines = new LineFeeds()
  readonly #room: EventRoom
  readonly #whole: WholeFrames
  readonly #keeper: StreamKeeper | undefined
  readonly #visible: (events: Uint8Array) => Uint8Array
  readonly #delivered: Deliveries | undefined
  readonly #call: TellingCall | undefined
  /** Looks for the first content, while somebody wants to know when it came. */
  #frames: FrameDecoder | undefined
  #read: Measured | undefined
  #failure: Failure | undefined
  /** The terminal event was sent, nothing is missing any more, and nothing may follow. */
  #done = false
  /** The upstream has ended the stream; until then the client may disconnect. */
  #ended = false
  /** The bytes sent so far end inside a large event. */
  torn = false

  constructor(exchange: Passing) {
    const { codec, host, request, scope } = exchange
    this.#exchange = exchange
    this.#room = eventRoom(host, scope)
    this.#whole = new WholeFrames(this.#room)
    this.#keeper = codec.keeper?.(asked(exchange))
    this.#visible = withoutHidden(codec.relay?.hides?.(request.sent))
    this.#delivered = codec.meter.delivers && new Deliveries(codec.meter.delivers)
    this.#call = scope.call
    if (this.#call) this.#frames = new FrameDecoder()
  }

  data(chunk: Uint8Array): Uint8Array | undefined {
    if (this.#whole.passes(chunk)) return this.#shown(this.#passed(chunk))
    const given = this.#whole.push(chunk).map(({ bytes, part }) => {
      return part === 'whole' ? this.#shown(this.#passed(bytes)) : this.#large(bytes, part === 'beginning')
    })
    this.torn &&= this.#whole.inside
    return given.length > 1 ? Buffer.concat(given) : given[0]
  }

  end(): Uint8Array | undefined {
    this.#ended = true
    if (this.torn) throw cutShort(this.#exchange)
    return this.#ending()
  }

  fail(error: Error): Uint8Array | undefined {
    if (!this.torn) return this.#ending(error)
    this.#failure = failureOf(error, this.#exchange)
    return undefined
  }

  /** What the client did not get because it has not requested it. */
  get unshown(): Unshown | undefined {
    return this.#keeper?.unshown
  }

  /** The measurement of the stream, with estimated usage if the end that reports it is missing. */
  measured(): Measured {
    const { codec } = this.#exchange
    const told = this.#read ?? metered(codec, this.#ends, this.#ends.last(nearEnd))
    const whole = (this.#ended && told.complete && !this.#failure) || (told.usage && told.stop !== undefined)
    const usage = whole || !codec.meter.said ? {} : estimated(this.#exchange, told.usage, saidIn(codec, this.#ends))
    const units = unitsOfStream(this.#exchange, this.#ends, told.complete && !this.#failure, this.#delivered?.count)
    return { ...told, ...usage, ...units, ...(this.#failure ? { failure: this.#failure, complete: false } : {}) }
  }

  #passed(bytes: Uint8Array): Uint8Array {
    // Some upstreams end a stream twice.
    if (this.#done) return nothing
    const { codec, host } = this.#exchange
    const events = withoutSecrets(this.#lines.pass(bytes), codec, host)
    if (this.#call) this.#arrived(this.#call, events)
    if (!this.#keeper && codec.close && hasLastWord(events)) return this.#finished(events)
    const legal = this.#keeper ? this.#keeper.pass(events) : events
    this.#ends.add(legal)
    this.#delivered?.take(legal)
    return legal
  }

  #arrived(call: TellingCall, events: Uint8Array): void {
    const { meter } = this.#exchange.codec
    const hasContent = this.#frames?.push(events).some((frame) => (meter.said?.(frame) ?? 1) > 0) ?? true
    if (!hasContent) return
    this.#frames = undefined
    call.arrived()
  }

  /** Whole events in the form that the client gets. */
  #shown(events: Uint8Array): Uint8Array {
    const { named, candidate } = this.#exchange
    const visible = this.#visible(events)
    return named ? namedEvents(bufferOf(visible), candidate.model.name) : visible
  }

  /** The last bytes of a stream. Missing events are inserted before the one that ends it. */
  #finished(bytes: Uint8Array): Uint8Array {
    let before = bytes.subarray(0, bytes.length - lastWord.length)
    while (hasLastWord(before)) before = before.subarray(0, before.length - lastWord.length)
    this.#ends.add(before)
    const frames = this.#closing()
    this.#done = true
    if (frames.length === 0) {
      this.#ends.add(bytes.subarray(before.length, before.length + lastWord.length))
      return bytes.subarray(0, before.length + lastWord.length)
    }
    const last = Buffer.from(printed(frames))
    this.#ends.add(last)
    return Buffer.concat([before, last])
  }

  #large(bytes: Uint8Array, begins: boolean): Uint8Array {
    // A failure is relayed whole or not at all, because only then secrets can be removed from it.
    if (begins && beginsFailure(bytes)) throw eventTooLarge(this.#room)
    if (begins) this.torn = this.#keeper?.large(Buffer.from(bytes.subarray(0, headLimit))) !== false
    if (!this.torn) return nothing
    this.#ends.add(bytes)
    if (begins) this.#delivered?.take(bytes)
    return bytes
  }

  /** The bytes still to send to the client; undefined: the client's stream breaks as the upstream's did. */
  #ending(error?: Error): Uint8Array | undefined {
    const { codec } = this.#exchange
    // The last event, if only the empty line after it is missing. The rest of a broken event is dropped.
    const rest = completed(this.#whole.rest())
    const last = rest === '' ? '' : Buffer.from(this.#passed(Buffer.from(rest))).toString()
    const near = lately(this.#ends)
    this.#failure = announced(codec, near)
    if (!this.#failure) this.#read = metered(codec, this.#ends, near)
    // A break after the terminal event does not affect the client.
    const over = this.#failure !== undefined || (this.#read?.complete === true && (!error || near.length > 0))
    const frames = over ? this.#closing() : this.#failing(error ?? cutShort(this.#exchange))
    return frames && (last === '' && frames.length === 0 ? nothing : this.#shown(Buffer.from(last + printed(frames))))
  }

  #closing(): readonly Frame[] {
    if (this.#keeper) return this.#keeper.end()
    if (this.#done) return []
    const last = this.#ends.last(lastEvent).at(-1) ?? lately(this.#ends).at(-1)
    return this.#exchange.codec.close?.(asked(this.#exchange), last) ?? []
  }

  #failing(error: Error): readonly Frame[] | undefined {
    const failure = (this.#failure = failureOf(error, this.#exchange))
    return this.#keeper ? this.#keeper.end(failure) : this.#exchange.codec.fail?.(failure, asked(this.#exchange))
  }
}

const nothing = new Uint8Array()

const lastWord = encodeFrame({ data: '[DONE]' })

/**
 * Whether a stream has ended with its terminal event. Runs per chunk: nearly all differ in the byte before the line
 * end.
 */
function hasLastWord(bytes: Uint8Array): boolean {
  if (bytes[bytes.length - 3] !== closingBracket) return false
  return Buffer.from(bytes.subarray(-lastWord.length)).toString() === lastWord
}

const closingBracket = 0x5d

/** Bytes of a large event that are searched for its type. */
const headLimit = 256

const failureHead =
  /^event: ?(?:error|\S{0,64}failed)$|^data: {0,8}\{\s{0,8}"(?:error"|type"\s{0,8}:\s{0,8}"(?:error|[\w.]{0,64}failed)")/m

/** Whether a large event begins like one that announces a failure, in any protocol. */
function beginsFailure(bytes: Uint8Array): boolean {
  return failureHead.test(Buffer.from(bytes.subarray(0, headLimit)).toString())
}

/** Passes bytes whose lines end in LF unchanged, and reprints those of any other stream. */
class LineFeeds {
  /** Undefined: no bytes yet; false: lines end in LF. */
  #decoder: FrameDecoder | false | undefined

  pass(events: Uint8Array): Uint8Array {
    this.#decoder ??= events.includes(carriageReturn) && new FrameDecoder()
    return this.#decoder ? Buffer.from(printed(this.#decoder.push(events))) : events
  }
}

const carriageReturn = 0x0d

const emptyLine = '\n\n'

/**
 * Removes hidden frames from whole events whose lines end in LF. Only a frame with the mark of a hidden one is decoded,
 * because one read may contain hundreds. Without a hidden frame, which is nearly always so, the bytes stay unchanged.
 */
function withoutHidden(hidden: Hidden | undefined): (events: Uint8Array) => Uint8Array {
  if (!hidden) return (events) => events
  return (events) => {
    const bytes = bufferOf(events)
    let at = bytes.indexOf(hidden.sign)
    if (at < 0) return events
    const kept: Uint8Array[] = []
    let from = 0
    while (at >= 0) {
      const before = bytes.lastIndexOf(emptyLine, at)
      const start = before < from ? from : before + emptyLine.length
      const after = bytes.indexOf(emptyLine, at)
      const end = after < 0 ? bytes.length : after + emptyLine.length
      const [frame] = new FrameDecoder().push(bytes.subarray(start, end))
      if (frame && hidden.is(frame)) {
        kept.push(bytes.subarray(from, start))
        from = end
      }
      at = bytes.indexOf(hidden.sign, end)
    }
    return from === 0 && kept.length === 0 ? events : Buffer.concat([...kept, bytes.subarray(from)])
  }
}
