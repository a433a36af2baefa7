import { defineService } from '../../engine/index.ts'
import type { Principal } from '../../engine/index.ts'

/** Who holds a session, by its token; undefined: nobody, as far as it knows. Throws what the client is to be told instead. */
export type FindHolder = (token: string) => Principal | undefined | Promise<Principal | undefined>

/** Who holds a session. */
export interface Sessions {
  /** Has one more asked, in this configuration: for a service, while it is configured. */
  from(find: FindHolder): void
  /** Asks one after the other, in the order in which they came. */
  find(token: string): Promise<Principal | undefined>
}

declare module '../../engine/index.ts' {
  interface Services {
    sessions: Sessions
  }
}

/**
 * Where those who know of sessions meet those who ask. A service that signs members in uses it and says how their sessions
 * are found; `auth` knows nothing of it.
 */
export default defineService({
  name: 'sessions',
  section: 'security',
  summary: 'Who holds a session: what the services that sign members in say of it.',
  open: () => ({
    configure() {
      const finders: FindHolder[] = []
      const view: Sessions = {
        from: (find) => void finders.push(find),
        async find(token) {
          for (const find of finders) {
            const holder = await find(token)
            if (holder !== undefined) return holder
          }
          return undefined
        },
      }
      return { view }
    },
  }),
})
