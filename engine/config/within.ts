/**
 * What `work` resolves to, or a rejection with `late` as its message once the deadline has passed. Until then the process
 * stays alive: Node would end it without a word when nothing but such work is left.
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
