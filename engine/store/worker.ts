import { parentPort, workerData } from 'node:worker_threads'
import { openLogWriter } from './log-writer.ts'

/** What the queue sends: a batch of rows as lines of text, one batch at a time, or the word to end. */
export type ToWorker = { readonly rows: string } | 'close'

/** What the worker answers: what became of the batch, or a change between failing and working. */
export type FromWorker =
  | { readonly written: number; readonly dropped: number }
  | { readonly failing: string | undefined }

const port = parentPort
if (port === null) throw new Error('the log writer runs as a worker thread')

const { url } = workerData as { readonly url: string }
const writer = openLogWriter(url, (failing) => port.postMessage({ failing } satisfies FromWorker))

port.on('message', async (message: ToWorker) => {
  if (message !== 'close') return port.postMessage((await writer.write(message.rows.split('\n'))) satisfies FromWorker)
  await writer.close()
  port.close()
})
