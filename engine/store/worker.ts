import { parentPort, workerData } from 'node:worker_threads'
import { openLogWriter } from './log-writer.ts'
import type { Written } from './log-writer.ts'
import type { Shape } from './row-lines.ts'

/** What the queue sends: a batch of rows as lines of text with the shapes they name, one batch at a time, or the word to end. */
export type ToWorker = { readonly rows: string; readonly shapes: readonly Shape[] } | 'close'

/** What the worker answers: what became of the batch, or a change between failing and working. */
export type FromWorker = Written | { readonly failing: string | undefined }

const port = parentPort
if (port === null) throw new Error('the log writer runs as a worker thread')

const { url } = workerData as { readonly url: string }
const writer = openLogWriter(url, (failing) => port.postMessage({ failing } satisfies FromWorker))

port.on('message', async (message: ToWorker) => {
  if (message !== 'close') {
    const written = await writer.write(message.rows.split('\n'), message.shapes)
    return port.postMessage(written satisfies FromWorker)
  }
  await writer.close()
  port.close()
})
