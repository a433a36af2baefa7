/**
 * The result of `work`; rejects with the message `late` after the deadline. Until then the process stays alive:
 * otherwise Node would exit silently if nothing but such work is pending.
 * @param deadline milliseconds
 */
export async function within<T>(work: Promise<T>, deadline: number, late: string): Promise<T> {
  const { promise: passed, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(late)), deadline)
  try {
    return await Promise.race([work, passed])
  } finally {
    clearTimeout(timer)
  }
}
