import { GatewayError } from '../../engine/index.ts'
import { answerHold, collect, through } from '../../engine/kit.ts'
import type { Answer, Host, Reply, Scope, Source } from '../../engine/index.ts'
import { tooLong } from './answer-reader.ts'
import type { AnswerReader } from './answer-reader.ts'
import { MessageStream } from './message-stream.ts'
import type { Session, Sessions } from './sessions.ts'
import { discard } from './upstream.ts'

/** How an answer of a server is passed on. */
export interface Relaying {
  readonly host: Pick<Host, 'byteBudget' | 'scrub'>
  readonly scope: Pick<Scope, 'onEnd'>
  readonly reader: AnswerReader
  /** Present: the stream may be silent for hours, and outlives its exchange. It belongs to what this makes of it. */
  readonly lasting?: (source: Source) => Source
  /** Called when the stream has ended before the answer, and the client may resume it. */
  readonly left?: () => void
}

/** Headers of servers that clients need; those of the body are its own. */
const passed = ['allow', 'retry-after']

/** The answer; if the server does not know the session any more, throws `session_not_found`, as for every unknown one. */
export async function answerOf(
  answer: Answer,
  session: Session | undefined,
  { sessions }: { readonly sessions: Sessions },
): Promise<Answer> {
  if (session === undefined || answer.status !== 404) return answer
  discard(answer)
  await sessions.forget(session)
  throw new GatewayError('session_not_found')
}

/** The reply with the answer of a server: whole bodies and streams of messages. */
export async function relayed(answer: Answer, relaying: Relaying): Promise<Reply> {
  const { status, headers } = answer
  const own = passed.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]))
  const given = { status, headers: Object.fromEntries(own) as Reply['headers'] }
  const type = headers['content-type'] ?? ''
  return isStream(status, type) ? { ...given, body: stream(answer, relaying) } : wholeReply(answer, given, relaying)
}

function isStream(status: number, type: string): boolean {
  // Clients look for the word anywhere.
  return status === 200 && /text\/event-stream/i.test(type)
}

function stream({ body }: Answer, { host, scope, reader, lasting, left }: Relaying): Reply['body'] {
  // A lasting stream keeps its reservation beyond its exchange.
  const hold = answerHold(host, lasting ? undefined : scope)
  const messages = new MessageStream(reader, hold)
  const source = closing(through(body, messages), () => {
    hold.release()
    if (messages.isLeft) left?.()
  })
  return {
    kind: 'stream',
    source: lasting ? lasting(source) : source,
    type: 'text/event-stream',
    keepalive: () => comment,
    ...(lasting ? { lasting: true } : {}),
  }
}

/** Only complete events are passed on, so it may follow any of them. */
const comment = Buffer.from(': keep-alive\n\n')

async function wholeReply(
  { headers, body }: Answer,
  given: Pick<Reply, 'status' | 'headers'>,
  { host, scope, reader }: Relaying,
): Promise<Reply> {
  const bytes = await collect(body, reader.limit, answerHold(host, scope)).catch((error: unknown) => {
    const isTooLong = error instanceof GatewayError && error.code === 'upstream_invalid_response'
    throw isTooLong ? tooLong(reader.limit) : error
  })
  if (bytes.length === 0) return { ...given, body: { kind: 'none' } }
  const type = headers['content-type'] ?? 'application/octet-stream'
  const text = bytes.toString()
  // Whatever type it has: a client may take it for JSON.
  const read = reader.read(text)
  // A server may quote the headers that it was sent.
  const shown = given.status >= 400 ? host.scrub(read) : read
  return { ...given, body: { kind: 'bytes', bytes: shown === text ? bytes : Buffer.from(shown), type } }
}

/** The same source; `closed` is called once, however it ends. */
function closing(source: Source, closed: () => void): Source {
  return {
    open(sink) {
      let isOpen = true
      const close = () => {
        if (isOpen) closed()
        isOpen = false
      }
      const flow = source.open({
        data: (chunk) => sink.data(chunk),
        end() {
          close()
          sink.end()
        },
        fail(error) {
          close()
          sink.fail(error)
        },
      })
      return {
        pause: () => flow.pause(),
        resume: () => flow.resume(),
        cancel(reason) {
          close()
          flow.cancel(reason)
        },
      }
    },
  }
}
