import { GatewayError } from '../../engine/index.ts'
import type { ServiceHost, TableQueries } from '../../engine/index.ts'

/** The purpose of the key that signs checkpoints. */
const purpose = 'sluice audit 1'

/** The key with which the checkpoint of a row was signed; undefined: this process cannot open it. */
export type KeyOf = (sequence: number) => Buffer | undefined

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
      if (this.#opened(newest) === undefined) throw outdated()
      this.#newest = newest.sequence
    }
    return this.#host.deriveKey(purpose)
  }

  /** The keys of all rows, as far as this process can open them. */
  async all(queries: TableQueries): Promise<KeyOf> {
    const stored = await queries.selectFrom('audit_keys').selectAll().orderBy('sequence').execute()
    const earlier = stored.map((row) => ({ last: row.sequence, key: this.#opened(row) }))
    const present = this.#host.deriveKey(purpose)
    return (sequence) => (earlier.find(({ last }) => sequence <= last) ?? { key: present }).key
  }

  /** Keeps the key of the master secret that just ended; `last`: the last row that it signs. */
  async keep(transaction: TableQueries, last: number, earlier: Pick<ServiceHost, 'deriveKey'>): Promise<void> {
    const key = this.#host.seal(earlier.deriveKey(purpose), contextOf(last)).toString('base64')
    await transaction.insertInto('audit_keys').values({ sequence: last, key }).execute()
  }

  #opened({ sequence, key }: { readonly sequence: number; readonly key: string }): Buffer | undefined {
    return this.#host.unseal(Buffer.from(key, 'base64'), contextOf(sequence))
  }
}

/** The context with which the key of the rows until this one is sealed. */
export function contextOf(sequence: string | number): string {
  return `audit key ${sequence}`
}

function outdated(): GatewayError {
  const message = 'The master secret was rotated, and this process lacks the new one; restart it with it.'
  return new GatewayError('store_unavailable', {}, { message })
}
