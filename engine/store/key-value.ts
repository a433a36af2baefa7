import { GatewayError } from '../spec/error.ts'
import type { KeyValue } from '../spec/key-value.ts'
import { codeOf } from '../config/location.ts'

/** An open key-value store. */
export interface OpenKeyValue extends KeyValue {
  /** Whether it is currently unavailable. */
  readonly failing: boolean
  close(): Promise<void>
}

/**
 * The error for a failed call to a store. Drivers attach the command, and with it the value, to their errors, so only
 * the message is kept: no log may show stored values.
 */
export function storeUnavailable(error: unknown): GatewayError {
  const message = error instanceof Error ? error.message : String(error)
  const cause = new Error([codeOf(error), message].filter((word) => word !== undefined && word !== '').join(': '))
  return new GatewayError('store_unavailable', {}, { cause })
}
