import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Argon2Parameters } from 'node:crypto'
import { promisify } from 'node:util'
import { GatewayError } from '../../engine/index.ts'

/** Cost of a hash (RFC 9106): KiB of memory, passes, lanes. */
interface Cost {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

const cost: Cost = { memory: 19 * 1024, passes: 2, parallelism: 1 }
const saltLength = 16
const hashLength = 32

/** Hashes at the same time, and how many more may wait: each takes a thread and 19 MiB for about 30 ms. */
const mostAtOnce = 2
const mostWaiting = 32

/** A hash in the PHC string format: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`, base64 without padding. */
const phc = /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,3})\$([A-Za-z\d+/]{11,86})\$([A-Za-z\d+/]{16,86})$/

const derive = promisify(argon2)

/** A hash that belongs to no password. Names that do not exist are compared with it, so that they take as long. */
const nobodys = printed(cost, Buffer.alloc(saltLength), Buffer.alloc(hashLength))

/** Hashes and checks passwords with argon2id (RFC 9106), a few at a time. */
export class Passwords {
  #running = 0
  readonly #waiting: (() => void)[] = []

  /** The hash of a password, in the PHC string format. Rejects with `too_many_attempts` if too many wait already. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(saltLength)
    return printed(cost, salt, await this.#derive(password, salt, cost, hashLength))
  }

  /**
   * Whether a password belongs to a hash. Takes as long without a hash: nobody learns which names exist. Rejects with
   * `too_many_attempts` if too many wait already.
   */
  async isRight(password: string, hash = nobodys): Promise<boolean> {
    const [, memory, passes, parallelism, salt = '', expected = ''] = phc.exec(hash) ?? []
    if (memory === undefined) throw new Error('the hash of a password is damaged')
    const costs = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
    const wanted = Buffer.from(expected, 'base64')
    const derived = await this.#derive(password, Buffer.from(salt, 'base64'), costs, wanted.length)
    return timingSafeEqual(derived, wanted) && hash !== nobodys
  }

  async #derive(password: string, nonce: Buffer, costs: Cost, tagLength: number): Promise<Buffer> {
    const parameters: Argon2Parameters = { ...costs, message: normal(password), nonce, tagLength }
    await this.#turn()
    try {
      return await derive('argon2id', parameters)
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }

  /** Waits for a place among those that run, which the one before hands on. */
  async #turn(): Promise<void> {
    if (this.#running < mostAtOnce) this.#running += 1
    else if (this.#waiting.length < mostWaiting) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else throw new GatewayError('too_many_attempts', {}, { retryAfter: 1 })
  }
}

/** A password as it is hashed and measured: the same, however a keyboard composes its characters (UAX #15, NFKC). */
export function normal(password: string): string {
  return password.normalize('NFKC')
}

function printed({ memory, passes, parallelism }: Cost, salt: Buffer, hash: Buffer): string {
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(salt)}$${text(hash)}`
}
