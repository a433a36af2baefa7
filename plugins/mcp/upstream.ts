import type { Answer, Ingress, Scope, TraceContext } from '../../engine/index.ts'
import type { Message, RequestId, RequestMessage } from './message.ts'

/** Facts about a request of a client that its server needs beside the message. */
export interface Sending {
  /** Aborted when the client has left. A server of revision 2025-11-25 or older goes on with the call even then. */
  readonly scope: Pick<Scope, 'onAbort'>
  /** The headers of the client's request, such as `last-event-id`. Its credentials must not reach the server. */
  readonly headers: Ingress['headers']
  /** The trace context that the server gets in headers, as it has it in the message. */
  readonly trace?: TraceContext | undefined
  /** Longest silence of the answer in milliseconds; 0: none. */
  readonly silence: number
}

/** The answer to `initialize`. */
export interface Opened {
  readonly answer: Answer
  /**
   * The server's own name of the new session, which clients never see. Absent: the server keeps none, or has refused to
   * open one.
   */
  readonly session?: string
  /** Resolves when the session has ended, for whatever reason. Absent: only an answer to a request tells. */
  readonly over?: Promise<void>
}

/**
 * The connection to one configured MCP server, over either transport. Its answers have the shape of Streamable HTTP
 * (MCP 2025-11-25, basic/transports): a whole JSON message, a stream of server-sent events, or no body. The status 404
 * of a request with a session means that the server does not know the session any more. Methods reject with a
 * `GatewayError` that names no address, such as `upstream_unreachable`.
 */
export interface Upstream {
  /** Whether it speaks revision 2026-07-28, which has no sessions. */
  readonly stateless: boolean
  /** Opens a session with the client's `initialize`. */
  open(message: RequestMessage, sending: Sending): Promise<Opened>
  /** Passes on a message. Without a session, the message is of revision 2026-07-28, or the server keeps no sessions. */
  post(message: Message, sending: Sending, session: string | undefined): Promise<Answer>
  /** Opens the stream of a session, or resumes the one with the event that `last-event-id` names. */
  listen(sending: Sending, session: string | undefined): Promise<Answer>
  /**
   * Resolves when the server works no more on a request, whoever still waits for it. Absent: the work ends with the
   * connection of the request.
   */
  worked?(id: RequestId, session: string): Promise<void>
  /** Ends a session. */
  end(session: string, sending: Sending): Promise<Answer>
  /** The running configuration has the server no more, or with another identity: ends what only its sessions need. */
  retire?(): void
}

/** The scope of a request that outlasts its exchange, or has none. */
export const endless: Sending['scope'] = { onAbort: () => () => undefined }

/** How a session is ended that nobody waits for: its server may take ten seconds. */
export const ending: Sending = { scope: endless, headers: {}, silence: 10_000 }

/** Closes an answer that nobody reads. */
export function discard({ body }: Answer): void {
  const ignore = () => undefined
  body.open({ data: ignore, end: ignore, fail: ignore }).cancel(new Error('nobody reads it'))
}
