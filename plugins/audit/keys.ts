import { GatewayError } from '../../engine/index.ts'
import type { ServiceHost, TableQueries } from '../../engine/index.ts'

/** The purpose of the key that signs checkpoints. */
const purpose = 'sluice audit 1'

/** The key with which the checkpoint of a row was signed. */
export type KeyOf = (sequence: number) => Buffer

type Host = Pick<ServiceHost, 'deriveKey' | 'seal' | 'unseal'>

/**
 * The keys that sign checkpoints. Each follows from a master secret; those of earlier ones are stored, sealed with the
 * present one, so that their checkpoints still verify.
 */
export class AuditKeys {
  readonly #host: Host
  /** The newest stored key that this process could open. */
  #newest: number | undefined

  constructor(host: Host) {
    this.#host = host
  }

  /**
   * The key for a row that is appended now. Rejects with `store_unavailable` if this process lacks the present master
   * secret.
   */
  async present(transaction: TableQueries): Promise<Buffer> {
    const query = transaction.selectFrom('audit_keys').selectAll().orderBy('sequence', 'desc').limit(1)
    const newest = await query.executeTakeFirst()
    if (newest && newest.sequence !== this.#newest) {
      this.#opened(newest)
      this.#newest = newest.sequence
    }
    return this.#host.deriveKey(purpose)
  }

  /** The keys of all rows. Rejects like `present`. */
  async all(queries: TableQueries): Promise<KeyOf> {
    const stored = await queries.selectFrom('audit_keys').selectAll().orderBy('sequence').execute()
    const earlier = stored.map((row) => ({ last: row.sequence, key: this.#opened(row) }))
    const present = this.#host.deriveKey(purpose)
    return (sequence) => earlier.find(({ last }) => sequence <= last)?.key ?? present
  }

  /** Keeps the key of the master secret that just ended; `last`: the last row that it signs. */
  async keep(transaction: TableQueries, last: number, earlier: Pick<ServiceHost, 'deriveKey'>): Promise<void> {
    const key = this.#host.seal(earlier.deriveKey(purpose), contextOf(last)).toString('base64')
    await transaction.insertInto('audit_keys').values({ sequence: last, key }).execute()
  }

  #opened({ sequence, key }: { readonly sequence: number; readonly key: string }): Buffer {
    const opened = this.#host.unseal(Buffer.from(key, 'base64'), contextOf(sequence))
    if (opened) return opened
    const message = 'The master secret was rotated, and this process lacks the new one; restart it with it.'
    throw new GatewayError('store_unavailable', {}, { message })
  }
}

/** The context with which the key of the rows until this one is sealed. */
export function contextOf(sequence: string | number): string {
  return `audit key ${sequence}`
}
