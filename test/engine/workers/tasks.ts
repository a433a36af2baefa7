import { threadId } from 'node:worker_threads'

let calls = 0

/** What the tests ask a worker to do. */
const deeds = {
  thread: () => threadId,
  count: () => calls,
  throw: () => {
    throw new RangeError('out of cheese')
  },
  'throw text': () => {
    // oxlint-disable-next-line typescript/only-throw-error
    throw 'a text'
  },
  'throw later': () => {
    setTimeout(() => {
      throw new Error('too late')
    })
    return new Promise(() => {})
  },
  exit: () => process.exit(0),
  loop: () => {
    for (;;) calls++
  },
  memory: () => {
    const hoard: unknown[] = []
    for (;;) hoard.push(Array.from({ length: 10_000 }, (_, index) => ({ index })))
  },
  linger: () => new Promise((resolve) => setTimeout(resolve, 60)),
  loaded: () => Reflect.has(globalThis, 'loadedByThePool'),
  uncloneable: () => () => calls,
}

export type Order = keyof typeof deeds

export default function obey(order: Order): unknown {
  calls++
  return deeds[order]()
}
