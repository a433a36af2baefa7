import { GatewayError, defineService } from '../../engine/index.ts'
import type { Greeting, Slots } from '../../engine/index.ts'
import { ChangePoll } from '../../engine/kit.ts'
import { Attempts } from './attempts.ts'
import { FailureTimes } from './failure-times.ts'
import { MemberStore } from './member-store.ts'
import type { Member } from './member.ts'
import { Passwords } from './password.ts'
import { RefusedLogins } from './refused-logins.ts'
import { migrations } from './table.ts'

/** The people who may sign in, from an index in memory that follows other processes within a second. */
export interface Members {
  find(id: string): Member | undefined
  /** The member with this username in any case. */
  named(username: string): Member | undefined
  /** Calls a function after every change of a member, until the returned function is called. */
  onChange(listener: () => void): () => void
  /**
   * Checks the password that a signed-in member repeats before something that a stolen session must not do. Rejects
   * with `wrong_password` or `too_many_attempts`.
   * @param address IP address of the peer
   */
  confirm(id: string, password: string, address: string): Promise<void>
  /** Whether the client of a request has repeated the password. Rejects like `confirm` if it is wrong. */
  isConfirmed(by: Pick<Slots, 'ingress' | 'principal'>, password: string | null | undefined): Promise<boolean>
  /** The parts of this service, for the stages and services of this plugin. */
  readonly store: MemberStore
  readonly passwords: Passwords
  readonly attempts: Attempts
  readonly refused: RefusedLogins
  /** Minimum characters of new passwords. */
  readonly leastPassword: number
  /** The token with which the first member is made; worthless once there is a member. */
  setupToken(): string
}

declare module '../../engine/index.ts' {
  interface Services {
    members: Members
  }
}

/** Milliseconds between two checks for changes by other processes. */
const poll = 500

/** Knows who may sign in, and what each member may do. */
export default defineService({
  name: 'members',
  section: 'security',
  summary: 'The people who may sign in.',
  settings: {
    type: 'object',
    additionalProperties: false,
    description: 'Sessions and passwords of members.',
    properties: {
      password_min_length: {
        type: 'integer',
        title: 'Shortest password',
        minimum: 8,
        maximum: 64,
        default: 12,
        'x-unit': 'characters',
        description: 'Minimum characters of new passwords.',
      },
    },
  } as const,
  uses: ['audit'],
  migrations,
  async open(host) {
    const store = new MemberStore(host)
    const passwords = new Passwords()
    const attempts = new Attempts(new FailureTimes(host.keyValue), store.places)
    const refused = new RefusedLogins(host.log)
    await store.refresh()
    // Sockets of members who lost their access are closed at once.
    store.onChange(() => host.recheck())
    const following = new ChangePoll({
      poll: () => store.poll(),
      changed: () => undefined,
      unknown: 'members and sessions changed by other processes are not known',
    })
    const polling = setInterval(() => void following.look(), poll).unref()
    return {
      configure({ password_min_length: leastPassword }, { audit }) {
        const view: Members = {
          find: (id) => store.find(id),
          named: (username) => store.named(username),
          onChange: (listener) => store.onChange(listener),
          async confirm(id, password, address) {
            const { username = '' } = store.find(id) ?? {}
            const isRight = await attempts.run({ username, address }, async () => {
              const row = await store.read(username)
              return (await passwords.isRight(password, row?.password)) || undefined
            })
            if (isRight === undefined) throw new GatewayError('wrong_password')
          },
          async isConfirmed({ ingress, principal }, password) {
            if (password === undefined || password === null) return false
            await view.confirm(principal.id, password, ingress.remote)
            return true
          },
          store,
          passwords,
          attempts,
          refused,
          leastPassword,
          setupToken: () => host.deriveKey(`sluice setup 1\0${store.instance}`).toString('base64url'),
        }
        return { view, live: () => refused.tellTo(audit) }
      },
      status: () => following.problem,
      close() {
        clearInterval(polling)
        return refused.write()
      },
    }
  },
  async greet(members): Promise<Greeting | undefined> {
    if (await members.store.hasMembers()) return undefined
    return {
      served({ url }) {
        // A fragment stays in the browser: no log of requests shows it.
        const address = `${url}/setup#token=${members.setupToken()}`
        return { text: `Set up the first admin: ${address}`, json: { setup_url: address } }
      },
    }
  },
  // Processes that do not have the new master secret yet end their sessions, too.
  rotate: ({ store }, transaction) => store.endAllSessions(transaction),
})
