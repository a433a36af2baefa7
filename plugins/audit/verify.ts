import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Json, JsonObject, SqlDialect, TableQueries } from '../../engine/index.ts'
import { canonical, parsedObject } from '../../engine/kit.ts'
import { isCheckpoint, isGenuine } from './checkpoints.ts'
import type { Checkpoint, Checkpoints } from './checkpoints.ts'
import type { AuditKeys, KeyOf } from './keys.ts'
import { hashOf, noHash, repeatedIn, targetNameIn } from './row.ts'
import type { AuditMarksTable, AuditTable } from './table.ts'

export type Reason =
  | 'hash_mismatch'
  | 'broken_link'
  | 'missing_row'
  | 'column_mismatch'
  | 'unexpected_row'
  | 'tail_cut'
  | 'checkpoint_mismatch'
  | 'wrong_secret'
  | 'unproven_tail'

/** Whether the audit trail is whole. */
export type Verdict = {
  readonly ok: boolean
  readonly rows: number
  /** The last row; null: there is none. */
  readonly head: { readonly sequence: number; readonly hash: string } | null
  readonly first_bad: Flaw | null
  /** Checkpoints that were compared, and those that are forged or contradict the rows. */
  readonly checkpoints: { readonly read: number; readonly bad: number }
  readonly took_ms: number
}

export type Flaw = {
  /** The bad row; `wrong_secret` and `unproven_tail`: the last row. */
  readonly sequence: number
  readonly reason: Reason
}

/** Why nothing proves that the trail is whole; undefined for a flaw that proves that it is not. */
export function whyUnproven({ reason }: Flaw): 'wrong_secret' | 'unproven_tail' | undefined {
  return reason === 'wrong_secret' || reason === 'unproven_tail' ? reason : undefined
}

type Row = AuditTable & { readonly [column in keyof Omit<AuditMarksTable, 'sequence'>]: AuditMarksTable[column] | null }

/** What a trail is verified with. */
interface Trail {
  readonly checkpoints: Checkpoints
  readonly keys: AuditKeys
  readonly dialect: SqlDialect
}

/** How often, and after how many milliseconds, a checkpoint of the last row is looked for that is not there yet. */
const [looks, pause] = [10, 100]

/** Rows that are read and verified without a pause for other work. */
const pageSize = 100

/**
 * Verifies every row, its link to the row before and its mark, then the checkpoints.
 * @param given further checkpoints, such as those of the process log
 */
export async function verify(
  database: TableQueries,
  { checkpoints, keys, dialect }: Trail,
  given: readonly Json[] = [],
): Promise<Verdict> {
  const began = performance.now()
  // Before the rows: a checkpoint is written after its row.
  const lines = [...(await checkpoints.read()), ...given]
  const keyOf = await keys.all(database)
  const genuine = lines.filter((line) => isSigned(line, keyOf))
  const walk = new Walk(genuine, keyOf)
  for await (const row of rowsOf(database)) walk.add(row)
  const { chain, marks, conflicts, head, rows } = walk
  // Who tampers with the trail leaves something that was signed; another secret has signed nothing.
  const isForeign = genuine.length + walk.genuine === 0 && (walk.foreign > 0 || lines.some(isCheckpoint))
  const forged = isForeign ? 0 : lines.length - genuine.length
  const cut = genuine.filter(({ sequence }) => sequence > (head?.sequence ?? 0))
  const further = [
    ...marks,
    ...conflicts,
    ...cut.slice(0, 1).map((): Flaw => ({ sequence: (head?.sequence ?? 0) + 1, reason: 'tail_cut' })),
    ...(forged > 0 ? [forgedFlaw(lines, keyOf, head?.sequence ?? 0)] : []),
  ]
  // A flaw of the chain is told first: it needs no secret, and further ones follow from it.
  const first =
    chain ??
    (isForeign ? { sequence: head?.sequence ?? 0, reason: 'wrong_secret' as const } : undefined) ??
    further.toSorted((left, right) => left.sequence - right.sequence)[0] ??
    (await unprovenTail(head, { checkpoints, dialect, given: genuine, keyOf })) ??
    null
  return {
    ok: first === null,
    rows,
    head,
    first_bad: first,
    checkpoints: { read: lines.length, bad: forged + conflicts.length + cut.length },
    took_ms: Math.round(performance.now() - began),
  }
}

/** A checkpoint that this gateway has not signed. One that cannot be read has no sequence; then the head is named. */
function forgedFlaw(lines: readonly (Json | undefined)[], keyOf: KeyOf, head: number): Flaw {
  const forged = lines.find((line) => !isSigned(line, keyOf))
  return { sequence: isCheckpoint(forged) ? forged.sequence : head, reason: 'checkpoint_mismatch' }
}

function isSigned(line: Json | undefined, keyOf: KeyOf): line is Json & Checkpoint & JsonObject {
  return isCheckpoint(line) && isGenuine(line, keyOf(line.sequence))
}

/**
 * The last row, if nothing outside the database proves that none was cut behind it. Its checkpoint is written after its
 * transaction, and may come a moment later.
 */
async function unprovenTail(
  head: Verdict['head'],
  {
    checkpoints,
    dialect,
    given,
    keyOf,
  }: Pick<Trail, 'checkpoints' | 'dialect'> & {
    readonly given: readonly Checkpoint[]
    readonly keyOf: KeyOf
  },
): Promise<Flaw | undefined> {
  if (head === null || given.some(({ sequence }) => sequence >= head.sequence)) return undefined
  // The last row may be another machine's, whose checkpoint stands in a file there.
  const least = dialect === 'postgres' ? 1 : head.sequence
  for (let look = 0; look < looks; look++) {
    if (look > 0) await setTimeout(pause)
    const lines = await checkpoints.read()
    if (lines.some((line) => isSigned(line, keyOf) && line.sequence >= least)) return undefined
  }
  return { sequence: head.sequence, reason: 'unproven_tail' }
}

/** All rows with their marks, in order. Lets other work run now and then. */
async function* rowsOf(database: TableQueries): AsyncGenerator<Row> {
  let after: number | undefined
  for (;;) {
    const last = after
    const page = await database
      .selectFrom('audit')
      .leftJoin('audit_marks', 'audit_marks.sequence', 'audit.sequence')
      .selectAll('audit')
      .select(['audit_marks.mac', 'audit_marks.target_name'])
      .$if(last !== undefined, (rows) => rows.where('audit.sequence', '>', last as number))
      .orderBy('audit.sequence')
      .limit(pageSize)
      .execute()
    yield* page
    after = page.at(-1)?.sequence
    if (page.length < pageSize) return
    await setImmediate()
  }
}

/** Goes through the rows in order. */
class Walk {
  rows = 0
  head: Verdict['head'] = null
  /** The first flaw of the rows among themselves. */
  chain: Flaw | undefined
  /** The first row without a genuine mark. */
  marks: readonly Flaw[] = []
  /** Checkpoints that contradict a row. */
  readonly conflicts: Flaw[] = []
  /** Rows by their signature: of a key that this process has, and of none of them. */
  genuine = 0
  foreign = 0
  readonly #checkpoints: ReadonlyMap<number, readonly Checkpoint[]>
  readonly #keyOf: KeyOf

  constructor(checkpoints: readonly Checkpoint[], keyOf: KeyOf) {
    this.#checkpoints = Map.groupBy(checkpoints, ({ sequence }) => sequence)
    this.#keyOf = keyOf
  }

  add(row: Row): void {
    const { sequence, hash, at } = row
    this.chain ??= this.#flawOf(row)
    const mark = this.#reasonOfMark(row)
    if (mark && this.marks.length === 0) this.marks = [{ sequence, reason: mark }]
    for (const checkpoint of this.#checkpoints.get(sequence) ?? [])
      if (checkpoint.hash !== hash || checkpoint.at !== timeOf(at))
        this.conflicts.push({ sequence, reason: 'checkpoint_mismatch' })
    this.rows += 1
    this.head = { sequence, hash }
  }

  #flawOf(row: Row): Flaw | undefined {
    const { sequence, hash, previous, body } = row
    const expected = (this.head?.sequence ?? 0) + 1
    if (sequence < 1) return { sequence, reason: 'unexpected_row' }
    if (sequence > expected) return { sequence: expected, reason: 'missing_row' }
    if (previous !== (this.head?.hash ?? noHash)) return { sequence, reason: 'broken_link' }
    if (hash !== hashOf(previous, body)) return { sequence, reason: 'hash_mismatch' }
    return isRepeated(row) ? undefined : { sequence, reason: 'column_mismatch' }
  }

  #reasonOfMark({ sequence, hash, at, mac, body, target_name: name }: Row): Reason | undefined {
    if (mac === null) return 'unexpected_row'
    if (!isGenuine({ sequence, hash, at: timeOf(at), mac }, this.#keyOf(sequence))) {
      this.foreign += 1
      return 'checkpoint_mismatch'
    }
    this.genuine += 1
    return name === targetNameIn(parsedObject(body) ?? {}) ? undefined : 'column_mismatch'
  }
}

/** Whether the columns repeat the body, which is canonical. */
function isRepeated(row: Row): boolean {
  const body = parsedObject(row.body)
  if (body === undefined || canonical(body) !== row.body) return false
  return Object.entries(repeatedIn(body)).every(([column, value]) => row[column as keyof Row] === value)
}

function timeOf(at: number): string {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : ''
}
