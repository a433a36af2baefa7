import type { Requester, ServiceHost, Services } from '../../engine/index.ts'
import { isUsername } from './member.ts'

/** A refused login. */
export interface RefusedLogin {
  readonly username: string
  /** The id of the member of that name; absent: there is none. */
  readonly id?: string | undefined
  readonly by: Requester
}

const minute = 60_000

/** Most names and addresses that are counted before they are written ahead of time. */
const most = 1_000

/**
 * Writes refused logins. The first one of a name and address is written at once, and the further ones of the same minute
 * as one row at its end, so that nobody can fill the trail with guesses.
 */
export class RefusedLogins {
  readonly #log: ServiceHost['log']
  #audit: Services['audit'] | undefined
  #counts = new Map<string, { readonly login: RefusedLogin; count: number }>()
  #timer: NodeJS.Timeout | undefined
  /** Resolves when everything so far is written. */
  #written = Promise.resolve()

  constructor(log: ServiceHost['log']) {
    this.#log = log
  }

  /** Writes to this trail from now on. */
  tellTo(audit: Services['audit']): void {
    this.#audit = audit
  }

  note(login: RefusedLogin): void {
    const key = JSON.stringify([login.username, login.by.address])
    const counted = this.#counts.get(key)
    if (counted) counted.count += 1
    else {
      this.#counts.set(key, { login, count: 0 })
      this.#append(login, 1)
    }
    if (this.#counts.size > most) void this.write()
    this.#timer ??= setTimeout(() => void this.write(), minute - (Date.now() % minute)).unref()
  }

  /** Writes what was counted since the last time, and ends the minute. Never rejects. */
  write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const { login, count } of this.#counts.values()) if (count > 0) this.#append(login, count)
    this.#counts = new Map()
    return this.#written
  }

  #append(login: RefusedLogin, count: number): void {
    this.#written = this.#written.then(() => this.#record(login, count))
  }

  async #record({ by, id, username }: RefusedLogin, count: number): Promise<void> {
    try {
      await this.#audit?.record({
        action: 'auth.refused',
        by,
        actor: { type: 'anonymous' },
        // What is no name may be a password in the wrong field.
        target: { type: 'member', id: id ?? null, name: isUsername(username) ? username : null },
        outcome: 'refused',
        details: { count },
      })
    } catch (error) {
      this.#log.error({ err: error, count }, 'refused logins are missing in the audit trail')
    }
  }
}
