import type { JsonObject, ServiceHost, TableQueries } from '../../engine/index.ts'
import { shape, timeText, whenFree } from '../../engine/kit.ts'
import type { LabelsTable } from './table.ts'

/** Which labels of a member, in the order of their times, and of their ids where these are the same. */
export interface LabelSlice {
  readonly limit: number
  readonly isDescending: boolean
  /** Only labels after this one. */
  readonly after?: readonly [at: number, id: string] | undefined
}

/** The ratings of routed requests: one per request. */
export class Labels {
  readonly #host: Pick<ServiceHost, 'database'>

  constructor(host: Pick<ServiceHost, 'database'>) {
    this.#host = host
  }

  /**
   * Adds a label, and has it learned in the same transaction. Resolves to whether the request had none; of several at the
   * same time, one is added.
   * @param learn resolves to whether later decisions learn from it
   */
  add(label: Omit<LabelsTable, 'applied'>, learn: (transaction: TableQueries) => Promise<boolean>): Promise<boolean> {
    const insert = async (transaction: TableQueries) => {
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto('routing_records_labels')
        .values({ ...label, applied: 0 })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      if (numInsertedOrUpdatedRows !== 1n) return false
      if (await learn(transaction))
        await transaction.updateTable('routing_records_labels').set({ applied: 1 }).where('id', '=', label.id).execute()
      return true
    }
    return whenFree(() => this.#host.database.transaction().execute(insert))
  }

  /** The label of a request. */
  find(id: string): Promise<LabelsTable | undefined> {
    return this.#all().where('id', '=', id).executeTakeFirst()
  }

  /** A slice of the labels that a member, or one of the member's keys, has given. */
  given(member: string, { limit, isDescending, after }: LabelSlice): Promise<LabelsTable[]> {
    const order = isDescending ? 'desc' : 'asc'
    const compare = isDescending ? '<' : '>'
    let query = this.#all().where('member_id', '=', member).orderBy('at', order).orderBy('id', order).limit(limit)
    if (after) query = query.where((of) => of(of.refTuple('at', 'id'), compare, of.tuple(after[0], after[1])))
    return query.execute()
  }

  /** The labels of some requests, in no order. */
  async of(ids: readonly string[]): Promise<LabelsTable[]> {
    return ids.length === 0 ? [] : this.#all().where('id', 'in', ids).execute()
  }

  /** The labels of the requests after one, in the order in which these began. */
  since([at, id]: readonly [at: number, id: string], limit: number): Promise<LabelsTable[]> {
    return this.#all()
      .where((of) => of(of.refTuple('request_at', 'id'), '>', of.tuple(at, id)))
      .orderBy('request_at')
      .orderBy('id')
      .limit(limit)
      .execute()
  }

  #all() {
    return this.#host.database.selectFrom('routing_records_labels').selectAll()
  }
}

/** JSON Schema of a rating. */
export const labelShape = shape.object({
  request_id: shape.text('Id of the request.'),
  signal: shape.word(['ok', 'weak', 'strong'], 'The model was right, too weak, or stronger than necessary.'),
  comment: shape.orNull(shape.text('A remark for people.')),
  at: shape.time('When it was given.'),
})

/** A label as clients see it. */
export function shownLabel({ id, signal, comment, at }: Omit<LabelsTable, 'applied'>): JsonObject {
  return { request_id: id, signal, comment, at: timeText(at) }
}
