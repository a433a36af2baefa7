import { parentPort, workerData } from 'node:worker_threads'
import { openRowWriter } from './row-writer.ts'
import type { Batch, Written } from './row-writer.ts'

/** What the thread is sent: a batch of rows, one of each table at a time, or the word to end. */
export type ToWorker = Batch | 'close'

/** What it answers: what became of the batch of a table, or why that cannot be written yet. */
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
