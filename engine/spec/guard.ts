import type { JSONSchema } from 'json-schema-to-ts'
import type { Stability } from './config.ts'
import type { Host } from './host.ts'
import type { JsonObject } from './json.ts'
import type { AllRecords, RecordReport } from './record.ts'

/** A kind of guard in a registry. `GuardParts` says what its parts do. */
export interface AnyGuard {
  readonly kind: 'guard'
  readonly name: string
  readonly summary: string
  readonly stability?: Stability
  readonly config: JSONSchema
  readonly secrets?: readonly string[]
  readonly destinations?: readonly string[]
  readonly uses?: readonly string[]
  readonly whole?: boolean
  check?(config: JsonObject, all: AllRecords, report: RecordReport): void
  longest?(config: JsonObject): number | undefined
  build(config: JsonObject, host: Host, services?: object): unknown
}
