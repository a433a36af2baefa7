import { GatewayError, defineService } from '../../engine/index.ts'
import type { Principal, TableQueries } from '../../engine/index.ts'
import { duration, durationSchema } from '../../engine/kit.ts'
import type { Member } from './member.ts'
import type { EndedSessionsTable } from './table.ts'
import { chainOf, longestLife, newId, printToken, readToken, skew } from './token.ts'
import type { Claims } from './token.ts'

/** A token and when it expires, in milliseconds since 1970. */
export interface Issued {
  readonly token: string
  readonly expiresAt: number
}

/** A valid session. Times in milliseconds since 1970. */
export interface Session {
  readonly claims: Claims
  readonly member: Member
  readonly expiresAt: number
  /** When it reaches its longest life, and cannot be renewed any more. */
  readonly endsAt: number
}

/** The sessions of members: signed tokens that every process can check without asking for them. */
export interface MemberSessions {
  /**
   * A token of a new session, or another one of the same session.
   * @param earlier the claims of a token of the session
   */
  issue(member: Pick<Member, 'id' | 'sessionVersion'>, earlier?: Pick<Claims, 'jti' | 'auth_time'>): Issued
  /** The session of a token, also one that has reached its longest life; undefined if the token is refused. */
  find(token: string): Promise<Session | undefined>
  /** Ends a session with all its tokens at once, within a change of the member store. */
  end(transaction: TableQueries, session: Session): Promise<void>
  /** Ends one token of a session after some milliseconds, within a change of the member store. */
  retire(transaction: TableQueries, session: Session, delay: number): Promise<void>
}

declare module '../../engine/index.ts' {
  interface Services {
    member_sessions: MemberSessions
  }
}

/** Makes and checks the tokens of members who have signed in. */
export default defineService({
  name: 'member_sessions',
  section: 'security',
  summary: 'The sessions of members who have signed in.',
  settings: {
    type: 'object',
    additionalProperties: false,
    description: 'Sessions and passwords of members.',
    properties: {
      session_idle: {
        ...durationSchema,
        title: 'Session without renewal',
        'x-minimum': '5m',
        'x-maximum': '24h',
        default: '1h',
        description: 'Life of a session that is not renewed, from 5m to 24h. A shorter one also ends sessions at once.',
      },
      session_max: {
        ...durationSchema,
        title: 'Longest session',
        'x-minimum': '1h',
        'x-maximum': '30d',
        default: '12h',
        description: 'Time after which a member must sign in again, from 1h to 30d.',
      },
    },
  } as const,
  uses: ['members', 'sessions'],
  check({ session_idle: idle, session_max: most }, report) {
    if (duration(idle) > duration(most))
      report(
        ['session_idle'],
        `is longer than session_max (${most}), which ends a session before`,
        'timeout',
        'warning',
      )
  },
  open(host) {
    // Another one after a rotation of the master secret.
    const key = () => host.deriveKey('sluice jwt 1')
    return {
      configure({ session_idle, session_max }, { members: { store }, sessions }) {
        const idle = duration(session_idle)
        const longest = duration(session_max)

        /** The session of valid claims, without a look into the database. */
        const sessionOf = (claims: Claims): Session | undefined => {
          const member = store.find(claims.sub)
          if (member === undefined || member.disabled || member.sessionVersion !== claims.ver) return undefined
          if (store.isEnded(claims.jti) || store.isEnded(chainOf(claims.jti))) return undefined
          return { claims, member, ...timesOf(claims) }
        }
        const timesOf = ({ exp, auth_time }: Pick<Claims, 'exp' | 'auth_time'>) => {
          const endsAt = auth_time * 1_000 + longest
          return { expiresAt: Math.min(exp * 1_000, endsAt), endsAt }
        }

        const view: MemberSessions = {
          issue({ id, sessionVersion }, earlier) {
            const iat = Math.floor(Date.now() / 1_000)
            const auth_time = earlier?.auth_time ?? iat
            // It may exceed the longest life, so that its renewal is refused for that reason and not as expired.
            const exp = iat + Math.floor(idle / 1_000)
            const claims = { sub: id, jti: newId(earlier?.jti), ver: sessionVersion, iat, exp, auth_time }
            return { token: printToken(claims, key()), expiresAt: timesOf(claims).expiresAt }
          },
          async find(token) {
            const now = Date.now()
            const claims = readToken(token, key(), now / 1_000)
            if (claims === undefined || claims.iat * 1_000 + idle <= now) return undefined
            const member = store.find(claims.sub)
            // Another process may just have made the member, or the session after a new password.
            if (member === undefined || claims.ver > member.sessionVersion) await store.look()
            return sessionOf(claims)
          },
          end(transaction, { claims }) {
            const now = Date.now()
            // Other tokens of the session may expire later than this one.
            const last = now + (longestLife + skew) * 1_000
            return noteEnd(transaction, { session: chainOf(claims.jti), ended_at: now, expires_at: last })
          },
          retire(transaction, { claims }, delay) {
            const ended_at = Date.now() + delay
            return noteEnd(transaction, { session: claims.jti, ended_at, expires_at: claims.exp * 1_000 })
          },
        }

        sessions.from(async (token, also) => {
          const session = await view.find(token)
          if (session === undefined || (session.endsAt <= Date.now() && !also.has('over'))) return undefined
          if (session.member.mustChangePassword && !also.has('pending'))
            throw new GatewayError('password_change_required')
          return principalOf(session.member)
        })
        return { view }
      },
    }
  },
})

function principalOf({ id, username, role, models }: Member): Principal {
  return { kind: 'member', id, name: username, role, ...(models && { models }) }
}

/** Notes the end of a token or of a chain of tokens; an earlier end stays. */
async function noteEnd(transaction: TableQueries, row: EndedSessionsTable): Promise<void> {
  await transaction.deleteFrom('members_ended').where('expires_at', '<=', Date.now()).execute()
  await transaction
    .insertInto('members_ended')
    .values(row)
    .onConflict((on) =>
      on.column('session').doUpdateSet({ ended_at: row.ended_at }).where('members_ended.ended_at', '>', row.ended_at),
    )
    .execute()
}
