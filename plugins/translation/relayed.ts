import {
  FrameDecoder,
  HeadAndTail,
  WholeFrames,
  bufferOf,
  encodeFrame,
  eventRoom,
  eventTooLarge,
  parsedJson,
  speaksToUpstreams,
  through,
} from '../../engine/kit.ts'
import type { AnyCodec, Failure, Frame, Metered, Measurement, Source, StreamGuard } from '../../engine/index.ts'
import type { EventRoom, Transform } from '../../engine/kit.ts'
import { namedEvents } from './answer-model.ts'
import { estimated, saidIn } from './estimated.ts'
import type { ClientAnswer, AnswerContext } from './answer-context.ts'
import { asked, eventStream } from './answer-context.ts'
import { unitsOfStream } from './units.ts'
import { cutShort, failureOf } from './failure.ts'
import { withoutHidden } from './without-hidden.ts'
import { withoutSecrets } from './without-secrets.ts'

/** Bytes at the end of a stream in which its last frames nearly always are, and in which they are else. */
const nearEnd = 2 * 1024
const farEnd = 8 * 1024

/** Bytes in which the last event nearly always is. */
const lastEvent = 512

/**
 * A stream of the client's own protocol, passed on event by event, byte for byte, with lines that end in LF. An event
 * that is too large to be held passes as it arrives. The stream's usage is read from its ends once it is over. A stream
 * that breaks, or ends before its protocol's last word, ends in the protocol's own way of failing; inside a large event
 * it breaks for the client, too.
 */
export function relayed(exchange: Passing, source: Source): ClientAnswer {
  const relay = new Relay(exchange)
  let told: ReturnType<Measurement['read']> | undefined
  return {
    body: eventStream(exchange, through(source, relay), () => relay.torn),
    measurement: { read: () => (told ??= { ...relay.measured(), losses: [] }) },
    losses: exchange.upstream.losses,
  }
}

/** An exchange whose client and provider speak one protocol. */
type Passing = AnswerContext & { readonly codec: AnyCodec }

/** Whether what its provider answers can be passed on. */
export function passesOn(exchange: AnswerContext): exchange is Passing {
  return speaksToUpstreams(exchange.codec)
}

/** What becomes of the bytes of one stream. */
class Relay implements Transform {
  readonly #exchange: Passing
  readonly #ends = new HeadAndTail(farEnd)
  readonly #lines = new LineFeeds()
  readonly #room: EventRoom
  readonly #whole: WholeFrames
  readonly #guard: StreamGuard | undefined
  readonly #visible: (events: Uint8Array) => Uint8Array
  #read: Measured | undefined
  #failure: Failure | undefined
  /** It has come to its last word, and lacks nothing any more. */
  #done = false
  /** Its upstream has ended it; until then its client may leave. */
  #ended = false
  /** What was passed on ends inside a large event. */
  torn = false

  constructor(exchange: Passing) {
    const { codec, host, request, scope } = exchange
    this.#exchange = exchange
    this.#room = eventRoom(host, scope)
    this.#whole = new WholeFrames(this.#room)
    this.#guard = codec.guard?.(asked(exchange))
    this.#visible = withoutHidden(codec.relay?.hides?.(request.sent))
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

  /** What it turned out to be, with an estimate where the end is missing that tells the usage. */
  measured(): Measured {
    const { codec } = this.#exchange
    const told = this.#read ?? metered(codec, this.#ends, this.#ends.last(nearEnd))
    const whole = (this.#ended && told.complete && !this.#failure) || (told.usage && told.stop !== undefined)
    const usage = whole || !codec.meter.said ? {} : estimated(this.#exchange, told.usage, saidIn(codec, this.#ends))
    const units = unitsOfStream(this.#exchange, this.#ends, told.complete && !this.#failure)
    return { ...told, ...usage, ...units, ...(this.#failure ? { failure: this.#failure, complete: false } : {}) }
  }

  #passed(bytes: Uint8Array): Uint8Array {
    const { codec, host } = this.#exchange
    const events = withoutSecrets(this.#lines.pass(bytes), codec, host)
    if (!this.#guard && codec.close && hasLastWord(events)) return this.#finished(events)
    const legal = this.#guard ? this.#guard.pass(events) : events
    this.#ends.add(legal)
    return legal
  }

  /** Whole events as the client reads them. */
  #shown(events: Uint8Array): Uint8Array {
    const { named, candidate } = this.#exchange
    const visible = this.#visible(events)
    return named ? namedEvents(bufferOf(visible), candidate.model.name) : visible
  }

  /** The last bytes of a stream: what it lacks comes before the word that ends it. */
  #finished(bytes: Uint8Array): Uint8Array {
    const before = bytes.subarray(0, bytes.length - lastWord.length)
    this.#ends.add(before)
    const frames = this.#closing()
    this.#done = true
    if (frames.length === 0) {
      this.#ends.add(bytes.subarray(before.length))
      return bytes
    }
    const last = Buffer.from(printed(frames))
    this.#ends.add(last)
    return Buffer.concat([before, last])
  }

  #large(bytes: Uint8Array, begins: boolean): Uint8Array {
    // A failure is passed on whole or not at all: only then its words can be made safe.
    if (begins && beginsFailure(bytes)) throw eventTooLarge(this.#room)
    if (begins) this.torn = this.#guard?.large(Buffer.from(bytes.subarray(0, headLimit))) !== false
    if (!this.torn) return nothing
    this.#ends.add(bytes)
    return bytes
  }

  /** What is still to say to the client; undefined: the stream breaks for it as it broke. */
  #ending(error?: Error): Uint8Array | undefined {
    const { codec } = this.#exchange
    // The last event, if only the empty line after it is missing; what is left of a broken one is dropped.
    const rest = completed(this.#whole.rest())
    const last = rest === '' ? '' : Buffer.from(this.#passed(Buffer.from(rest))).toString()
    const near = lately(this.#ends)
    this.#failure = announced(codec, near)
    if (!this.#failure) this.#read = metered(codec, this.#ends, near)
    // What breaks after the last word breaks nothing for the client.
    const over = this.#failure !== undefined || (this.#read?.complete === true && (!error || near.length > 0))
    const frames = over ? this.#closing() : this.#failing(error ?? cutShort(this.#exchange))
    return frames && (last === '' && frames.length === 0 ? nothing : this.#shown(Buffer.from(last + printed(frames))))
  }

  #closing(): readonly Frame[] {
    if (this.#guard) return this.#guard.end()
    if (this.#done) return []
    const last = this.#ends.last(lastEvent).at(-1) ?? lately(this.#ends).at(-1)
    return this.#exchange.codec.close?.(asked(this.#exchange), last) ?? []
  }

  #failing(error: Error): readonly Frame[] | undefined {
    const failure = (this.#failure = failureOf(error, this.#exchange))
    return this.#guard ? this.#guard.end(failure) : this.#exchange.codec.fail?.(failure, asked(this.#exchange))
  }
}

const nothing = new Uint8Array()

const lastWord = encodeFrame({ data: '[DONE]' })

/** Whether a stream has come to its last word. Asked of every chunk: nearly all end in another byte before their line. */
function hasLastWord(bytes: Uint8Array): boolean {
  if (bytes[bytes.length - 3] !== closingBracket) return false
  return Buffer.from(bytes.subarray(-lastWord.length)).toString() === lastWord
}

const closingBracket = 0x5d

/** Bytes of a large event in which is looked for what it is. */
const headLimit = 256

const failureHead =
  /^event: ?(?:error|\S{0,64}failed)$|^data: {0,8}\{\s{0,8}"(?:error"|type"\s{0,8}:\s{0,8}"(?:error|[\w.]{0,64}failed)")/m

/** Whether a large event begins as those do that announce a failure, in any protocol. */
function beginsFailure(bytes: Uint8Array): boolean {
  return failureHead.test(Buffer.from(bytes.subarray(0, headLimit)).toString())
}

/** The frames at the end; more than the nearest bytes are looked at only where an event is larger than they are. */
function lately(ends: HeadAndTail): readonly Frame[] {
  const near = ends.last(nearEnd)
  return near.length > 0 ? near : ends.last(Infinity)
}

/** Passes on bytes whose lines end in LF as they are; those of any other stream are printed anew. */
class LineFeeds {
  /** Undefined: nothing has come yet; false: its lines end in LF. */
  #decoder: FrameDecoder | false | undefined

  pass(events: Uint8Array): Uint8Array {
    this.#decoder ??= events.includes(carriageReturn) && new FrameDecoder()
    return this.#decoder ? Buffer.from(printed(this.#decoder.push(events))) : events
  }
}

const carriageReturn = 0x0d

type Measured = Metered & { readonly complete: boolean; readonly failure?: Failure }

function metered(codec: AnyCodec, ends: HeadAndTail, near: readonly Frame[]): Measured {
  const first = ends.first()
  const read = codec.meter.stream(first, near)
  if ((read.complete && read.usage) || ends.within(nearEnd)) return read
  const far = codec.meter.stream(first, ends.last(Infinity))
  const torn = far.complete && far.usage ? undefined : codec.meter.torn?.(ends.torn())
  return torn ? { ...far, ...torn, complete: true } : far
}

/** The failure that the upstream itself ended its stream with. */
function announced(codec: AnyCodec, frames: readonly Frame[]): Failure | undefined {
  for (const frame of frames) {
    const failure = codec.failed?.(frame)
    if (failure) return failure
  }
  return undefined
}

/** What has arrived of an event with the empty line that ends it; nothing when its data is not whole. */
function completed(bytes: Uint8Array | undefined): string {
  if (!bytes) return ''
  const decoder = new FrameDecoder()
  const frames = [...decoder.push(bytes), ...decoder.end()]
  return frames.every(isWhole) ? printed(frames) : ''
}

function isWhole({ data }: Frame): boolean {
  return data === '[DONE]' || parsedJson(data) !== undefined
}

function printed(frames: readonly Frame[]): string {
  return frames.map(encodeFrame).join('')
}
