import { parentPort, workerData } from 'node:worker_threads'
import { openRowWriter } from './row-writer.ts'
import type { Batch, Written } from './row-writer.ts'

/** A message to the thread: a batch of rows, at most one per table at a time, or the request to end. */
export type ToWorker = Batch | 'close'

/** A message of the thread: the result of a table's batch, or why it cannot be written yet. */
export type FromWorker = { readonly table: string } & (Written | { readonly failing: string })

const port = parentPort
if (port === null) throw new Error('rows are written by a worker thread')

const { url } = workerData as { readonly url: string }
const answer = (message: FromWorker) => port.postMessage(message)
const writer = openRowWriter(url, (table, failing) => answer({ table, failing }))

port.on('message', async (message: ToWorker) => {
  if (message !== 'close') return answer({ table: message.table, ...(await writer.write(message)) })
  await writer.close()
  port.close()
})
