import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { tellCall } from '../../engine/kit.ts'
import type { Answer, Host, Json, JsonObject, Reply, Scope } from '../../engine/index.ts'
import { AnswerReader } from './answer-reader.ts'
import type { Belonging } from './find-mcp-session.ts'
import { toolOf } from './message.ts'
import { ToldAnswer, withTrace } from './told-message.ts'
import type { Message, RequestMessage } from './message.ts'
import type { Mcp, Server } from './mcp.ts'
import { answerOf, relayed } from './relay.ts'
import type { Relaying } from './relay.ts'
import type { LiveSession, Session } from './sessions.ts'
import { discard, ending } from './upstream.ts'
import type { Opened, Sending } from './upstream.ts'

/** Passes a message on to its server, and the answer back. */
export default defineStage({
  name: 'call-mcp-server',
  summary: 'Pass the message to the MCP server, and answer what the server answers.',
  config: noConfig,
  needs: ['ingress', 'principal', 'mcp.message', 'mcp.server', 'mcp.session'],
  provides: ['reply'],
  owes: [
    { duty: 'limit', at: 'before' },
    { duty: 'price', at: 'finally' },
    { duty: 'log', at: 'finally' },
  ],
  settles: ['outcome'],
  uses: ['mcp', 'limits', 'traces'],
  timeout: '1h',
  build:
    (_config, host, { mcp, limits, traces }) =>
    async (slots, scope, settle) => {
      const { ingress, principal, 'mcp.message': message, 'mcp.server': server, 'mcp.session': belonging } = slots
      const { live } = belonging
      requireTool(message, server)
      if (live && message.kind === 'request') {
        const { id } = message
        if (!live.flights.begin(id)) throw new GatewayError('invalid_request', { reason: inFlight })
        settle(() => live.flights.close(id))
      }
      const sending = { scope, headers: ingress.headers, silence: isSubscription(message) ? 0 : server.silence }
      const answering = new ToldAnswer(message, scope)
      const { mcpContext } = traces
      const telling = { message, server, scope, sending, mcpContext, answering }
      const relaying = relayingOf({ message, server, live }, { mcp, host, scope, answering })
      if (message.kind === 'request' && begins(belonging))
        return {
          reply: await begin({ server, key: principal.id }, { mcp, telling: { ...telling, message }, relaying }),
        }
      const posting = told(telling, (asked, how) => server.upstream.post(asked, how, live?.upstream))
      limits.outlast(scope, () =>
        relaying.reader.hasAnswered ? undefined : worked(posting, { message, server, live }),
      )
      const answer = await posting
      if (live) forgetCancelled(message, live)
      return { reply: await relayed(await answerOf(answer, live, mcp), relaying) }
    },
})

interface Opener {
  readonly server: Server
  /** Id of the API key. */
  readonly key: string
}

interface Beginning {
  readonly mcp: Mcp
  readonly telling: Telling<RequestMessage>
  readonly relaying: Relaying
}

/** Opens a session in a place of its API key. Without a session, the place is free again. */
async function begin({ server, key }: Opener, { mcp: { sessions }, telling, relaying }: Beginning): Promise<Reply> {
  const { sending } = telling
  const facts = { server: server.record.name, identity: server.identity, key }
  const place = await sessions.reserve(facts, server.limits)
  let session: Session | undefined
  let upstream: string | undefined
  try {
    const { answer, over, ...named } = await opened(telling)
    upstream = named.session
    const reply = await relayed(answer, relaying)
    if (answer.status !== 200 || relaying.reader.hasFailed) {
      await leave(upstream, sending, server)
      return reply
    }
    session = await sessions.create({ ...facts, place, ...(upstream === undefined ? {} : { upstream }) }, over)
    return { ...reply, headers: { ...reply.headers, 'mcp-session-id': session.id } }
  } catch (error) {
    await leave(upstream, sending, server)
    throw error
  } finally {
    if (session === undefined) await sessions.release(place)
  }
}

/** Opens a session. The state of the server follows. */
async function opened(telling: Telling<RequestMessage>): Promise<Opened> {
  const { server } = telling
  try {
    const opening = Promise.withResolvers<Opened>()
    const answer = await told(telling, async (asked, how) => {
      opening.resolve(await server.upstream.open(asked, how))
      return (await opening.promise).answer
    })
    return { ...(await opening.promise), answer }
  } catch (error) {
    server.state.failed(error)
    throw error
  }
}

/** A message to a server, which is told as a call. */
interface Telling<M extends Message = Message> {
  readonly message: M
  readonly server: Server
  readonly scope: Scope
  readonly sending: Sending
  /** Whether the server gets the trace context. */
  readonly mcpContext: boolean
  readonly answering: ToldAnswer
}

/** Tells of a message to a server as of a call. It is sent with the trace context of the call, if there is one. */
function told<M extends Message>(
  { message, server, scope, sending, mcpContext, answering }: Telling<M>,
  send: (message: M, sending: Sending) => Promise<Answer>,
): Promise<Answer> {
  const { name, transport } = server.record
  const asked = (): JsonObject => {
    if (message.kind === 'response') return {}
    const { name: named } = message.params
    return { method: message.method, ...(typeof named === 'string' ? { name: named.slice(0, 256) } : {}) }
  }
  return tellCall({ name, type: transport }, scope, { protocol: 'mcp', lane: 'bytes', asked }, (trace) => {
    answering.asked()
    return trace && mcpContext ? send(withTrace(message, trace), { ...sending, trace }) : send(message, sending)
  })
}

/** Ends a session of the server that no client can have, also when the client has left. */
async function leave(session: string | undefined, { headers }: Sending, { upstream }: Server): Promise<void> {
  // The error of the gateway is the one to be told.
  if (session !== undefined) await upstream.end(session, { ...ending, headers }).then(discard, () => undefined)
}

/** Resolves when the server works no more on a message. A program goes on when the client has left. */
async function worked(posting: Promise<Answer>, { message, server: { upstream }, live }: Called): Promise<void> {
  const { status } = await posting.catch(() => refused)
  if (status !== 200 || message.kind !== 'request' || live?.upstream === undefined) return
  await upstream.worked?.(message.id, live.upstream)
}

const refused = { status: 502 }
const inFlight = 'A request with this id is still in flight in this session.'

/** Whether the request opens a session. */
function begins({ stateless, live }: Belonging): boolean {
  return !stateless && live === undefined
}

/** A stream of changes, which may be silent for hours (revision 2026-07-28). */
function isSubscription(message: Message): boolean {
  return message.kind === 'request' && message.method === 'subscriptions/listen'
}

/** Throws `tool_not_allowed` before the server is asked. */
function requireTool(message: Message, { tools }: Server): void {
  if (message.kind === 'response' || message.method !== 'tools/call') return
  const tool = toolOf(message)
  if (tool === undefined) {
    const reason = 'The member params.name must be a text.'
    throw new GatewayError('invalid_params', { reason })
  }
  if (!tools.admits(tool)) throw new GatewayError('tool_not_allowed', { tool: tool.slice(0, 256) })
}

/** Requests whose results say who the server is. */
const introductions: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

/** Takes the result of one of these. */
function openedIn({ state }: Server): (result: Json) => void {
  const begun = performance.now()
  return (result) => state.opened(result, Math.round(performance.now() - begun))
}

interface Called {
  readonly message: Message
  readonly server: Server
  readonly live: LiveSession | undefined
}

interface Within {
  readonly mcp: Mcp
  readonly host: Host
  readonly scope: Scope
  readonly answering: ToldAnswer
}

function relayingOf({ message, server, live }: Called, { mcp, host, scope, answering }: Within): Relaying {
  const introduced = message.kind === 'request' && introductions.has(message.method) ? openedIn(server) : undefined
  const id = message.kind === 'request' ? message.id : undefined
  const reader = new AnswerReader({
    tools: server.tools,
    limit: mcp.settings.max_answer_bytes,
    flights: live?.flights,
    id,
    failed(code) {
      scope.note('error_code', code)
      answering.failed(code)
    },
    answered(result) {
      introduced?.(result)
      answering.answered(result)
    },
  })
  return {
    host,
    scope,
    reader,
    left: () => {
      if (id !== undefined) live?.flights.leave(id)
    },
    ...(isSubscription(message) ? { lasting: (source) => source } : {}),
  }
}

/** A cancelled request is not answered any more. */
function forgetCancelled(message: Message, { flights }: LiveSession): void {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return
  const { requestId: id } = message.params
  if (typeof id === 'string' || typeof id === 'number') flights.end(id)
}
