import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { textOf } from './row-lines.ts'
import type { Pieces } from './row-lines.ts'
import { openRowWriter } from './row-writer.ts'
import type { Batch, RowWriterOptions, Written } from './row-writer.ts'

/** A batch in pieces, of which the thread makes its lines. */
export type Posted = Omit<Batch, 'rows'> & { readonly rows: Pieces }

/** A message to the thread: a batch of rows, at most one per table at a time, or the request to end. */
export type ToWorker = Posted | 'close'

/**
 * A message of the thread: the result of a table's batch, why it cannot be written yet, or what became of rows in files
 * (`own`: of this process).
 */
export type FromWorker = { readonly table: string } & (Written | { readonly failing: string } | Recovered)

export interface Recovered {
  readonly recovered: Written
  readonly own: boolean
}

/** What the thread is started with. */
export type WriterSettings = Pick<RowWriterOptions, 'url' | 'spill' | 'process'>

const port = parentPort
if (port === null) throw new Error('rows are written by a worker thread')

const answer = (message: FromWorker) => port.postMessage(message)
const writer = openRowWriter({
  ...(workerData as WriterSettings),
  report: (table, failing) => answer({ table, failing }),
  recovered: (table, recovered, own) => answer({ table, recovered, own }),
})

/**
 * Milliseconds from one batch of a table to the next while many rows come, and characters of rows that are many. Sums are
 * written once per batch, so larger batches cost less. A row is still in the database or a file within a second.
 */
const PACE = 200
const MANY = 16 * 1024

/** When the last batch of each table was begun. */
const begun = new Map<string, number>()

async function paced({ table, rows }: Batch): Promise<void> {
  const rest = (begun.get(table) ?? -PACE) + PACE - performance.now()
  if (rows.length > MANY && rest > 0) await wait(rest)
  begun.set(table, performance.now())
}

port.on('message', async (message: ToWorker) => {
  if (message !== 'close') {
    const batch = { ...message, rows: textOf(message.rows) }
    await paced(batch)
    const written = await writer.write(batch)
    return batch.rows === '' ? undefined : answer({ table: batch.table, ...written })
  }
  await writer.close()
  port.close()
})
