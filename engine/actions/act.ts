import { inputReader } from './input.ts'
import { queryReader } from './list-query.ts'
import { Answered, emptyReply, jsonReply, requesterOf } from './record-reply.ts'
import { isOfRole } from '../spec/access.ts'
import type { ActionAnswer, ActionAsked, AnyAction } from '../spec/action.ts'
import { noConfig } from '../spec/config.ts'
import { GatewayError } from '../spec/error.ts'
import type { Json } from '../spec/json.ts'
import type { Principal } from '../spec/principal.ts'
import type { Scope } from '../spec/scope.ts'
import type { Ingress, Reply, Slots } from '../spec/slots.ts'
import type { Source } from '../spec/source.ts'
import type { AnyStage } from '../spec/stage.ts'

/** The step `act` as a stage: of one action, or of the action of each route. */
export function actStage(actions: readonly AnyAction[], summary = 'Run the action of the route.'): AnyStage {
  const [only, ...others] = actions
  const one = others.length === 0 ? only : undefined
  return {
    kind: 'stage',
    name: 'act',
    summary: one?.summary ?? summary,
    config: noConfig,
    needs: ['ingress'],
    reads: ['principal'],
    provides: ['reply'],
    uses: [...new Set(actions.flatMap(({ uses = [] }) => uses))],
    readsBody: one?.body !== undefined,
    build(_config, host, services = {}) {
      if (one === undefined) throw new Error('an action runs by itself')
      const queryOf = queryReader(one.query)
      const reader = one.body === undefined ? undefined : inputReader(one.body, one.bodyLimit)
      return async ({ ingress, principal }: Partial<Slots>, scope: Scope) => {
        const asked = askedOf(ingress as Ingress, principal, scope)
        const refused = refusalOf(one, principal)
        if (refused !== undefined) {
          if (!['GET', 'HEAD'].includes(asked.ingress.method))
            await host.refused({ by: asked.by, action: one.name, code: refused.code })
          throw refused
        }
        await one.before?.(asked, services)
        const query = queryOf(asked.ingress.query)
        const body = reader && { body: await reader.read(asked.ingress, principal !== undefined) }
        return { reply: replyOf(one, await one.run({ ...asked, query, ...body }, services, scope, host)) }
      }
    },
  }
}

function askedOf(ingress: Ingress, principal: Principal | undefined, scope: Scope): ActionAsked {
  const by = requesterOf(scope, { ingress, ...(principal && { principal }) })
  return { ingress, params: ingress.params, principal, by }
}

/** Whoever stands before `act` may have let somebody in whom the action does not. */
function refusalOf({ access }: AnyAction, principal: Principal | undefined): GatewayError | undefined {
  if ('public' in access) return undefined
  if (principal === undefined) return new GatewayError('key' in access ? 'invalid_api_key' : 'invalid_token')
  const isRight =
    'key' in access ? principal.kind === 'key' : principal.kind === 'member' && isOfRole(principal, access.role)
  return isRight ? undefined : new GatewayError('forbidden')
}

const jsonType = 'application/json; charset=utf-8'

/** A comment of server-sent events, so that nobody closes a silent connection. */
const comment = Buffer.from(':\n\n')

function replyOf({ stream, status }: AnyAction, given: ActionAnswer): Reply {
  const { body, options } = given instanceof Answered ? given : new Answered(given ?? undefined, {})
  const reply = jsonReply((body ?? null) as Json, { ...(status === undefined ? {} : { status }), ...options })
  if (stream !== undefined) {
    const source = body as Source
    if (stream === 'lines') return { ...reply, body: { kind: 'stream', source, type: 'application/x-ndjson' } }
    const events = {
      kind: 'stream',
      source,
      type: 'text/event-stream',
      lasting: true,
      keepalive: () => comment,
    } as const
    return { ...reply, body: events }
  }
  if (body instanceof Uint8Array) return { ...reply, body: { kind: 'bytes', bytes: body, type: jsonType } }
  if (body !== undefined) return reply
  const said = options.status ?? status
  return { ...emptyReply, headers: reply.headers, ...(said === undefined ? {} : { status: said }) }
}
