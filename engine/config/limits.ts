import type { Settings } from './settings.ts'
import { duration } from '../spec/duration.ts'

/** Limits for WebSockets. Times are milliseconds. */
export interface SocketLimits {
  /** Maximum bytes of a message. */
  readonly message: number
  /** Time for a whole message to arrive, from its first frame. */
  readonly arrival: number
  /** Bytes at the start of each message that are not counted, so that small messages always fit. */
  readonly uncounted: number
  /** Bytes written but not sent beyond which the answer is paused. */
  readonly unsent: number
  /** Time they may stay unsent. */
  readonly stalled: number
  /** Time a stream may continue after its end event before it is cancelled for the next message. */
  readonly trailing: number
  /** Time between two pings; a client silent after two pings counts as gone. */
  readonly beat: number
  /** Time between two checks whether a client is still authorized. */
  readonly recheck: number
  /** Maximum age of a socket. */
  readonly age: number
  /** Time for a client to answer a close frame. */
  readonly closeTimeout: number
  /** Maximum unreadable messages in a row. */
  readonly strikes: number
  /** Maximum open sockets per address, and per API key. */
  readonly perAddress: number
  readonly perKey: number
  /** Maximum refused sockets per address that are still closing. Beyond it the upgrade itself is refused. */
  readonly refusedPerAddress: number
}

/** How clients share bytes. */
export interface ShareLimits {
  /** Bytes that an API key or a member may hold while there are any left, however little that is. */
  readonly bytes: number
  /** Maximum bytes of the clients of one network that are not authenticated: an IPv4 address, or a /64 of IPv6. */
  readonly perNetwork: number
  /** Maximum bytes of all clients that are not authenticated. */
  readonly unauthenticated: number
}

/** Limits for bodies of clients that are not authenticated. Times are milliseconds. */
export interface UnauthenticatedLimits {
  /** Maximum bytes of a body that a schema describes. A stage that reads the bytes of a body has its own limit. */
  readonly body: number
  /** Time for a whole body to arrive, from when it is read. */
  readonly arrival: number
  /** Bytes at the start of each body that are not counted, so that nobody's sign-in is refused. */
  readonly uncounted: number
}

/** Limits for clients in one process. Times are milliseconds. */
export interface HttpLimits {
  /** Time for the headers of a request to arrive. */
  readonly headers: number
  /** Time for a whole request to arrive. */
  readonly request: number
  /** Time without any byte of a body while it is being read. */
  readonly silence: number
  /** Time between two checks of these timeouts. */
  readonly look: number
  /** Time a connection may be idle. */
  readonly idle: number
  /** Time a response may stay unread. */
  readonly unread: number
  /** How long, and for how many bytes, the rest of a refused body is read so that its sender receives the error. */
  readonly linger: number
  readonly lingerBytes: number
  /** Time for responses that are aborted at the drain deadline to send their error. */
  readonly abortTimeout: number
  /**
   * Maximum bytes in memory of all bodies, messages, responses and unfinished events, of clients and upstreams
   * together.
   */
  readonly bodies: number
  /** Maximum bytes of all bodies on disk. */
  readonly spool: number
  /** How clients share the bytes of bodies and messages in memory, and on disk. */
  readonly shares: { readonly memory: ShareLimits; readonly disk: ShareLimits }
  readonly unauthenticated: UnauthenticatedLimits
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
  abortTimeout: 500,
  bodies: 256 * 1024 * 1024,
  spool: 4 * 1024 * 1024 * 1024,
  shares: {
    memory: { bytes: 256 * 1024, perNetwork: 8 * 1024 * 1024, unauthenticated: 32 * 1024 * 1024 },
    disk: { bytes: 16 * 1024 * 1024, perNetwork: 64 * 1024 * 1024, unauthenticated: 256 * 1024 * 1024 },
  },
  unauthenticated: { body: 8 * 1024, arrival: 10_000, uncounted: 1024 },
  sockets: {
    message: 64 * 1024 * 1024,
    arrival: 300_000,
    uncounted: 16 * 1024,
    unsent: 1024 * 1024,
    stalled: 30_000,
    trailing: 1_000,
    beat: 30_000,
    recheck: 4_000,
    age: 3_600_000,
    closeTimeout: 750,
    strikes: 10,
    perAddress: 4_096,
    perKey: 2_048,
    refusedPerAddress: 64,
  },
}

/** Settings of connections, which follow every change of the configuration. Times are milliseconds. */
export interface ConnectionTimes {
  /** Time a connection may be idle. */
  readonly idle: number
  /** Time without bytes before TCP probes a connection. */
  readonly probe: number
  /** Time between two pings on a socket. */
  readonly beat: number
}

/** The times of connections; those of `limits` take precedence. */
export function connectionTimes(
  { connection_idle: idle, tcp_delay: probe, websocket_ping: beat }: Settings['server_config']['keepalive'],
  limits: Partial<HttpLimits> = {},
): ConnectionTimes {
  return {
    idle: limits.idle ?? duration(idle),
    probe: duration(probe),
    beat: limits.sockets?.beat ?? duration(beat),
  }
}

/** The client timeouts of the configuration. Headers have no more time than the whole request, unless it has no limit. */
export function clientTimes(
  times: Settings['client_timeouts'],
): Pick<HttpLimits, 'headers' | 'request' | 'silence' | 'unread'> {
  const request = duration(times.body)
  return {
    headers: Math.min(duration(times.headers), request || Infinity),
    request,
    silence: duration(times.body_silence),
    unread: duration(times.unread),
  }
}
