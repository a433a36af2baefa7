import {
  FrameDecoder,
  GatewayError,
  StreamEnds,
  WholeFrames,
  encodeFrame,
  eventRoom,
  eventTooLarge,
  through,
} from '../../../engine/index.ts'
import type { AnyCodec, Failure, Frame, Metered, Meter, Source } from '../../../engine/index.ts'
import { estimated, saidIn } from './estimated.ts'
import type { Back, Exchange } from './translate-back.ts'
import { asked, eventStream, failureOf } from './translate-back.ts'
import { withoutHidden } from './without-hidden.ts'
import { parsedData, withoutSecrets } from './without-secrets.ts'

/** Bytes at the end of a stream in which its last frames nearly always are, and in which they are else. */
const nearEnd = 2 * 1024
const farEnd = 8 * 1024

/**
 * A stream of the client's own protocol, passed on event by event, byte for byte, with lines that end in LF. An event
 * that is too large to be held passes as it arrives. The stream's usage is read from its ends once it is over. A stream
 * that breaks, or ends before its protocol's last word, ends in the protocol's own way of failing; inside a large event
 * it breaks for the client, too.
 */
export function relayed(exchange: Exchange, source: Source): Back {
  const { codec, candidate, host, request, scope } = exchange
  const ends = new StreamEnds(farEnd)
  const room = eventRoom(host, scope)
  const whole = new WholeFrames(room)
  const lines = new LineFeeds()
  const guard = codec.guard?.(asked(exchange))
  let read: Measured | undefined
  let failure: Failure | undefined
  /** What was passed on ends inside a large event. */
  let torn = false
  /** Its upstream has ended it; until then its client may leave. */
  let ended = false
  const shown = withoutHidden(codec.relay?.hides?.(request.sent))
  /** What it turned out to be, with an estimate where the end is missing that tells the usage. */
  const measured = (): Measured => {
    const told = read ?? metered(codec, ends, ends.last(nearEnd))
    const whole = (ended && told.complete && !failure) || (told.usage && told.stop !== undefined)
    const usage = whole || !codec.meter.said ? {} : estimated(request, told.usage, saidIn(codec, ends))
    return { ...told, ...usage, ...(failure ? { failure, complete: false } : {}) }
  }
  let told: ReturnType<Meter['read']> | undefined
  const closing = () => (guard ? guard.end() : codec.close?.(asked(exchange), lately(ends).at(-1))) ?? []
  /** The last bytes of a stream: what it lacks comes before the word that ends it. */
  const finished = (bytes: Uint8Array): Uint8Array => {
    const before = bytes.subarray(0, bytes.length - lastWord.length)
    ends.add(before)
    const last = Buffer.from(printed(closing()) || lastWord)
    ends.add(last)
    return Buffer.concat([before, last])
  }
  const passed = (bytes: Uint8Array): Uint8Array => {
    const events = withoutSecrets(lines.pass(bytes), codec, host)
    if (!guard && codec.close && hasLastWord(events)) return finished(events)
    const legal = guard ? guard.pass(events) : events
    ends.add(legal)
    return legal
  }
  const large = (bytes: Uint8Array, begins: boolean): Uint8Array => {
    // A failure is passed on whole or not at all: only then its words can be made safe.
    if (begins && beginsFailure(bytes)) throw eventTooLarge(room)
    if (begins) torn = guard?.large(Buffer.from(bytes.subarray(0, headLimit))) !== false
    if (!torn) return new Uint8Array()
    ends.add(bytes)
    return bytes
  }
  /** The last event, if only the empty line after it is missing; what is left of a broken one is dropped. */
  const rest = (): string => Buffer.from(passed(Buffer.from(completed(whole.rest())))).toString()
  /** What is still to say to the client; undefined: the stream breaks for it as it broke. */
  const ending = (error?: Error): Uint8Array | undefined => {
    if (torn) {
      failure = failureOf(error, exchange)
      return undefined
    }
    const last = rest()
    const near = lately(ends)
    failure = announced(codec, near)
    if (!failure) read = metered(codec, ends, near)
    // What breaks after the last word breaks nothing for the client.
    const over = failure !== undefined || (read?.complete === true && (!error || near.length > 0))
    if (over) return shown(Buffer.from(last + printed(closing())))
    failure = failureOf(error ?? cutShort(candidate.model.name), exchange)
    const frames = guard ? guard.end(failure) : codec.fail?.(failure, asked(exchange))
    return frames && shown(Buffer.from(last + printed(frames)))
  }
  const relay = through(source, {
    data(chunk) {
      const given = whole
        .push(chunk)
        .map(({ bytes, part }) => (part === 'whole' ? shown(passed(bytes)) : large(bytes, part === 'beginning')))
      torn &&= whole.inside
      return given.length > 1 ? Buffer.concat(given) : given[0]
    },
    end() {
      ended = true
      if (torn) throw cutShort(candidate.model.name)
      return ending()
    },
    fail: (error) => ending(error),
  })
  return {
    body: eventStream(exchange, relay, () => torn),
    meter: { read: () => (told ??= { ...measured(), losses: [] }) },
    losses: exchange.upstream.losses,
  }
}

const lastWord = encodeFrame({ data: '[DONE]' })

/** Whether a stream has come to its last word. Asked of every chunk: nearly all end in another byte before their line. */
function hasLastWord(bytes: Uint8Array): boolean {
  if (bytes.at(-3) !== closingBracket) return false
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
function lately(ends: StreamEnds): readonly Frame[] {
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

function metered(codec: AnyCodec, ends: StreamEnds, near: readonly Frame[]): Measured {
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
  return data === '[DONE]' || parsedData(data) !== undefined
}

function printed(frames: readonly Frame[]): string {
  return frames.map(encodeFrame).join('')
}

function cutShort(model: string): GatewayError {
  return new GatewayError('upstream_error', { model, reason: 'the stream ended before it was complete' })
}
