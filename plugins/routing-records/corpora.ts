import type { JsonObject, Services } from '../../engine/index.ts'
import { feedbackLine, judgedLine } from './dataset.ts'
import type { Budget, Example } from './dataset.ts'
import { routingOf } from './decision.ts'
import type { Row } from './decision.ts'
import type { LabelsTable } from './table.ts'

/** A line of an export, and its place in the order of all: the start of its request, then its id. */
export interface Line {
  readonly at: number
  readonly id: string
  readonly value: JsonObject
}

/** What a corpus is read from. */
export interface Sources extends Pick<Services, 'requests' | 'routing_records'> {
  readonly budget: Budget
}

type Position = readonly [at: number, id: string]

/** Rows that are read at a time. */
const batch = 100

/** The rated requests since a time, in milliseconds since 1970, in their order. */
export async function* feedback(sources: Sources, since: number): AsyncGenerator<Line> {
  for await (const rated of ratedRows(sources, since))
    for (const { row, ...rest } of await examplesOf(
      sources,
      rated.map(({ row }) => row),
    ))
      yield { at: row.at, id: row.id, value: feedbackLine({ row, ...rest }, sources.budget) }
}

/** The rated rows of the log since a time, in milliseconds since 1970, in the order of their start, some at a time. */
export async function* ratedRows(
  { requests, routing_records: records }: Pick<Services, 'requests' | 'routing_records'>,
  since: number,
): AsyncGenerator<readonly { readonly row: Row; readonly label: LabelsTable }[]> {
  let after: Position | undefined = [since, '']
  while (after) {
    const labels = await records.labels.since(after, batch)
    const ids = labels.map(({ id }) => id)
    const rows = new Map((await requests.rows(ids)).map((row) => [row.id, row]))
    yield labels.flatMap((label) => {
      const row = rows.get(label.id)
      return row ? [{ row, label }] : []
    })
    const last = labels.length < batch ? undefined : labels.at(-1)
    after = last && [last.request_at, last.id]
  }
}

/** The requests since a time that a judge was asked about, in their order. */
export async function* judged(sources: Sources, since: number): AsyncGenerator<Line> {
  const { requests, budget } = sources
  let after: Position | undefined = [since, '']
  while (after) {
    const rows = await requests.judged({ limit: batch, after })
    for (const { row, ...rest } of await examplesOf(sources, rows))
      yield { at: row.at, id: row.id, value: judgedLine({ row, ...rest }, budget) }
    const last = rows.length < batch ? undefined : rows.at(-1)
    after = last && [last.at, last.id]
  }
}

async function examplesOf({ routing_records: records }: Sources, rows: readonly Row[]): Promise<readonly Example[]> {
  const ids = rows.map(({ id }) => id)
  const labels = new Map((await records.labels.of(ids)).map((label) => [label.id, label]))
  const texts = await records.prompts.of(ids)
  return rows.flatMap((row) => {
    const routing = routingOf(row)
    return routing ? [{ row, routing, label: labels.get(row.id), text: texts.get(row.id) }] : []
  })
}

/**
 * The first lines, at most `limit` of each corpus. They end with all corpora at once, and not between two requests of the
 * same millisecond: whoever goes on from the newest time has all of them.
 */
export async function* firstOf(lines: AsyncIterable<Line>, limit: number): AsyncGenerator<Line> {
  const corpora = new Map<unknown, { count: number; readonly at: number }>()
  for await (const line of lines) {
    const { corpus } = line.value
    const { count = 0, at } = corpora.get(corpus) ?? {}
    if (count >= limit && line.at !== at) return
    yield line
    corpora.set(corpus, { count: count + 1, at: line.at })
  }
}

/** Two corpora in one order. */
export async function* merged(one: AsyncIterator<Line>, other: AsyncIterator<Line>): AsyncGenerator<Line> {
  let [left, right] = [await one.next(), await other.next()]
  while (!left.done || !right.done)
    if (right.done || (!left.done && isFirst(left.value, right.value))) {
      yield left.value as Line
      left = await one.next()
    } else {
      yield right.value
      right = await other.next()
    }
}

function isFirst(left: Line, right: Line): boolean {
  return left.at === right.at ? left.id <= right.id : left.at < right.at
}
