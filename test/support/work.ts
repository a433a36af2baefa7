import { expect } from 'chai'

/** Shortest processor time that can be told apart from the clock's own steps, in microseconds. */
const clear = 2_000

/**
 * How many times the processor time of `task` grows when a text grows `times`-fold: the best of several runs of each, so
 * that a slow or busy machine changes nothing.
 * @param repeated what the texts are made of
 * @param length characters of the shorter one
 */
export function workRatio(
  task: (text: string) => unknown,
  repeated: string,
  { length, times }: { readonly length: number; readonly times: number },
): number {
  const textOf = (size: number) => repeated.repeat(Math.ceil(size / repeated.length))
  return ratio(task, textOf(length), textOf(length * times))
}

/**
 * Expects that `task` takes about eight times the processor time for what `prepare` makes of `size` as for what it makes
 * of an eighth of it, and not the sixty-four times that looking at each for each other would take.
 */
export function expectLinear<T>(size: number, prepare: (size: number) => T, task: (prepared: T) => unknown): void {
  expect(ratio(task, prepare(Math.ceil(size / 8)), prepare(size))).to.be.below(24)
}

function ratio<T>(task: (given: T) => unknown, small: T, large: T): number {
  task(small)
  task(large)
  return best(() => task(large)) / best(() => task(small))
}

/** Microseconds of processor time that a task takes at best. A short one is done often enough to be measured. */
function best(task: () => unknown): number {
  let least = Infinity
  for (let run = 0, count = 1; run < 6;) {
    const start = process.cpuUsage()
    for (let done = 0; done < count; done++) task()
    const { user, system } = process.cpuUsage(start)
    if (user + system < clear) count *= 4
    else {
      least = Math.min(least, (user + system) / count)
      run++
    }
  }
  return least
}
