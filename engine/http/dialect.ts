import type { Failure } from '../spec/error.ts'
import type { Json } from '../spec/json.ts'

/** The error body of routes that belong to no protocol (`{ error: { message, type, param, code } }`). */
export function printFailure({ message, type, param, code }: Failure): Json {
  return { error: { message, type, param, code } }
}
