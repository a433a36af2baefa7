import { GatewayError } from '../spec/error.ts'
import type { KeyValue } from '../spec/key-value.ts'
import { codeOf } from './location.ts'

/** A key-value store that is open. */
export interface OpenKeyValue extends KeyValue {
  /** Whether it is out of reach at present. */
  readonly failing: boolean
  close(): Promise<void>
}

/**
 * What a call to a store that failed rejects with. Drivers hang the command, and with it the value, on their errors:
 * only the message goes on, so that no log shows what was kept.
 */
export function storeUnavailable(error: unknown): GatewayError {
  const message = error instanceof Error ? error.message : String(error)
  const cause = new Error([codeOf(error), message].filter((word) => word !== undefined && word !== '').join(': '))
  return new GatewayError('store_unavailable', {}, { cause })
}
