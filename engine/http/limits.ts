import type { Settings } from '../config/settings.ts'
import { duration } from '../spec/duration.ts'

/** What WebSockets may take up. Times in milliseconds. */
export interface SocketLimits {
  /** Bytes of a message. */
  readonly message: number
  /** For a whole message to arrive, from its first frame. */
  readonly arrival: number
  /** Bytes at the beginning of each message that are not counted: there is always room for them. */
  readonly uncounted: number
  /** Bytes of unfinished messages per API key, per address where there is none. */
  readonly unfinished: number
  /** Bytes that are written and not sent yet, beyond which the answer is paused. */
  readonly unsent: number
  /** How long they may stay unsent. */
  readonly stalled: number
  /** How long a stream may go on after its last word before the next message is answered. */
  readonly trailing: number
  /** Between two pings; from whom nothing comes after two is gone. */
  readonly beat: number
  /** Between two looks at whether a client may still be here. */
  readonly recheck: number
  /** How long a socket may be open. */
  readonly age: number
  /** How long a client may take to close in its turn. */
  readonly farewell: number
  /** Messages in a row that cannot be read. */
  readonly strikes: number
  /** Open sockets per address, and per API key. */
  readonly perAddress: number
  readonly perKey: number
  /** Refused sockets per address that have not closed yet. Beyond them the upgrade itself is refused. */
  readonly strangers: number
}

/** What clients may take up in one process. Times in milliseconds. */
export interface HttpLimits {
  /** For the headers of a request to arrive. */
  readonly headers: number
  /** For a whole request to arrive. */
  readonly request: number
  /** How long nothing of a body may come while it is being read. */
  readonly silence: number
  /** Between two looks at these times. */
  readonly look: number
  /** How long a connection may be idle. */
  readonly idle: number
  /** How long an answer may stay unread. */
  readonly unread: number
  /** How long the rest of a refused body is read, so that its sender hears why, and most bytes of it. */
  readonly linger: number
  readonly lingerBytes: number
  /** How long answers that are cut at the end of draining may take for their last words. */
  readonly lastWords: number
  /** Bytes in hand of all bodies, messages, answers and unfinished events, of clients and upstreams together. */
  readonly bodies: number
  /** Bytes of all bodies on disk. */
  readonly spool: number
  readonly sockets: SocketLimits
}

export const httpLimits: HttpLimits = {
  headers: 30_000,
  request: 3_600_000,
  silence: 60_000,
  look: 2_000,
  idle: 65_000,
  unread: 30_000,
  linger: 1_000,
  lingerBytes: 64 * 1024 * 1024,
  lastWords: 500,
  bodies: 256 * 1024 * 1024,
  spool: 4 * 1024 * 1024 * 1024,
  sockets: {
    message: 64 * 1024 * 1024,
    arrival: 300_000,
    uncounted: 16 * 1024,
    unfinished: 128 * 1024 * 1024,
    unsent: 1024 * 1024,
    stalled: 30_000,
    trailing: 1_000,
    beat: 30_000,
    recheck: 4_000,
    age: 3_600_000,
    farewell: 750,
    strikes: 10,
    perAddress: 4_096,
    perKey: 2_048,
    strangers: 64,
  },
}

/** How long clients may take, as the configuration has it. */
export function clientTimes(
  times: Settings['client_timeouts'],
): Pick<HttpLimits, 'headers' | 'request' | 'silence' | 'unread'> {
  return {
    headers: duration(times.headers),
    request: duration(times.body),
    silence: duration(times.body_silence),
    unread: duration(times.unread),
  }
}
