import type { RefusedAction, ServiceHost } from '../../engine/index.ts'
import { isObject, parsedObject } from '../../engine/kit.ts'
import type { Chain } from './chain.ts'

const minute = 60_000

/** Most refusals that are remembered, so that repeated ones do not reach the database. */
const most = 1_000

/** Notes writes that members may not do: one row per member, action and minute, over all processes. */
export class Refusals {
  readonly #chain: Chain
  readonly #log: ServiceHost['log']
  /** The minute of the last row, by member and action. */
  readonly #noted = new Map<string, number>()

  constructor(chain: Chain, log: ServiceHost['log']) {
    this.#chain = chain
    this.#log = log
  }

  /** Never rejects: the write is refused anyway. */
  async note({ by, action, code }: RefusedAction): Promise<void> {
    const { principal } = by
    if (principal?.kind !== 'member') return
    const now = Math.floor(Date.now() / minute)
    const key = `${principal.id} ${action}`
    if (this.#noted.get(key) === now) return
    if (this.#noted.size >= most) this.#noted.clear()
    this.#noted.set(key, now)
    const entry = { action: 'access.refused', by, outcome: 'refused', details: { action, code } } as const
    try {
      await this.#chain.record(entry, async (transaction) => {
        const rows = await transaction
          .selectFrom('audit')
          .select('body')
          .where('actor_id', '=', principal.id)
          .where('action', '=', 'access.refused')
          .where('at', '>=', now * minute)
          .execute()
        return rows.some(({ body }) => actionIn(body) === action)
      })
    } catch (error) {
      this.#noted.delete(key)
      this.#log.error({ err: error }, 'a refused request is missing in the audit trail')
    }
  }
}

function actionIn(body: string): unknown {
  const details = parsedObject(body)?.['details']
  return isObject(details) ? details['action'] : undefined
}
