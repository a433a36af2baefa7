/** A value that is there at once, or comes later. */
export type Soon<T> = T | Promise<T>

/** Goes on with a value: at once if it is there, because a stage that waits costs its exchange a timer and a turn. */
export function after<T, U>(value: Soon<T>, go: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(go) : go(value)
}
