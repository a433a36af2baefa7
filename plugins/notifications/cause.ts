import type { JsonObject } from '../../engine/index.ts'

/** What may be wrong, as targets name it in `causes`. */
export const causeNames = [
  'budget',
  'circuit',
  'provider_keys',
  'rows_lost',
  'charges_waiting',
  'store_down',
  'reload_refused',
  'audit_broken',
  'expires',
  'telemetry_down',
  'disk_low',
  'worker_died',
] as const

export type CauseName = (typeof causeNames)[number]

/** Something that is wrong now. It has no prompt, no answer, no secret and no address of a client. */
export interface Cause {
  readonly cause: CauseName
  /** Tells it from the others of its name, in every process and after a restart. */
  readonly key: string
  /** What it is about, for people. */
  readonly subject: string
  /** Numbers, names and codes. */
  readonly facts: JsonObject
  /** Since when, in milliseconds since 1970; absent: since it was first seen. */
  readonly since?: number
  /** Where the console shows it. */
  readonly path: string
}

export const states = ['begin', 'still', 'end'] as const

export type State = (typeof states)[number]

/** One thing that is said of a cause. Times in milliseconds since 1970. */
export interface Notice extends Omit<Cause, 'cause' | 'since'> {
  /** Its own id: a receiver that knows it has heard it before. */
  readonly message: string
  /** The same from begin to end. */
  readonly id: string
  readonly cause: CauseName | 'test'
  readonly state: State
  readonly at: number
  readonly since: number
}

const beginnings: Readonly<Record<Notice['cause'], string>> = {
  budget: 'Budget',
  circuit: 'Circuit open',
  provider_keys: 'All keys of a provider rest',
  rows_lost: 'Rows of the request log are lost',
  charges_waiting: 'Charges wait for the database',
  store_down: 'Store down',
  reload_refused: 'Configuration refused',
  audit_broken: 'Audit trail broken',
  expires: 'Ends soon',
  telemetry_down: 'Telemetry is not delivered',
  disk_low: 'Disk almost full',
  worker_died: 'A process died',
  test: 'Test',
}

/** A notice in one sentence. */
export function sentenceOf({ cause, state, subject }: Pick<Notice, 'cause' | 'state' | 'subject'>): string {
  const word = state === 'begin' ? '' : state === 'still' ? ' (still)' : ' (over)'
  return `${beginnings[cause]}${word}: ${subject}.`
}
