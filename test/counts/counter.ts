// Preloaded into a gateway: counts what its main thread allocates and how many promises it makes between two messages
// of its parent.
import { getHeapStatistics, promiseHooks } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

const allocated = () => getHeapStatistics().total_allocated_bytes

if (isMainThread && process.send) {
  let bytes = 0
  let promises = 0
  let stop: (() => void) | undefined
  process.on('message', (word) => {
    if (word === 'start') {
      promises = 0
      stop = promiseHooks.onInit(() => promises++) as () => void
      bytes = allocated()
      process.send?.({ counting: true })
    } else if (word === 'stop') {
      bytes = allocated() - bytes
      stop?.()
      process.send?.({ bytes, promises })
    }
  })
  process.channel?.unref()
}
