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
  const short = textOf(length)
  const long = textOf(length * times)
  task(short)
  return best(() => task(long)) / best(() => task(short))
}

/** Microseconds of processor time that a task takes at best. A short one is done often enough to be measured. */
function best(task: () => unknown): number {
  let least = Infinity
  for (let run = 0, count = 1; run < 3;) {
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
