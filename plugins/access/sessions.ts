import { defineService } from '../../engine/index.ts'
import type { Principal } from '../../engine/index.ts'

/**
 * Sessions that an endpoint accepts although others refuse them: `pending`, of a member who must change the password
 * first; `over`, which has reached its longest life.
 */
export type Also = ReadonlySet<'pending' | 'over'>

/**
 * Finds the member who holds a session token; undefined if the token is unknown. Throws a more specific error than 401,
 * such as `password_change_required` unless `also` has `pending`.
 */
export type FindHolder = (token: string, also: Also) => Principal | undefined | Promise<Principal | undefined>

/** Finds the holders of sessions. */
export interface Sessions {
  /** Adds a finder to this configuration. A service calls it from `configure`. */
  from(find: FindHolder): void
  /** Calls the finders in the order in which they were added, until one returns a holder. */
  find(token: string, also?: Also): Promise<Principal | undefined>
}

declare module '../../engine/index.ts' {
  interface Services {
    sessions: Sessions
  }
}

const nothing: Also = new Set()

/**
 * Connects services that sign members in with the stages that authenticate. Such a service uses this one and adds a
 * finder of its sessions; `auth` does not know the service.
 */
export default defineService({
  name: 'sessions',
  section: 'security',
  summary: 'Finds the member who holds a session, among the services that sign members in.',
  open: () => ({
    configure() {
      const finders: FindHolder[] = []
      const view: Sessions = {
        from: (find) => void finders.push(find),
        async find(token, also = nothing) {
          for (const find of finders) {
            const holder = await find(token, also)
            if (holder !== undefined) return holder
          }
          return undefined
        },
      }
      return { view }
    },
  }),
})
