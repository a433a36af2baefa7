import type { Operation } from '../spec/operation.ts'
import type { Rig } from './rig.ts'

/** What the provider must have for a check to apply. */
export interface Condition {
  /** A field of the provider's configuration. */
  readonly field?: string
  /** An operation that it answers in neutral form. */
  readonly answers?: Operation
}

/** One requirement for a provider. Throws or rejects when the provider does not meet it. */
export interface Check {
  readonly group: string
  readonly name: string
  readonly when: Condition
  /** Whether it waits for real time, so that it can run in parallel with other checks. */
  readonly lasts: boolean
  run(rig: Rig): unknown
}

type Add = (name: string, run: Check['run']) => void
type AddWhen = (when: Condition, name: string, run: Check['run']) => void

/** Checks with a common title. Those added by the second function have a condition; those added by the third wait for real time. */
export function group(
  title: string,
  write: (check: Add, checkWhen: AddWhen, checkLong: Add) => void,
): readonly Check[] {
  const checks: Check[] = []
  write(
    (name, run) => void checks.push({ group: title, name, when: {}, lasts: false, run }),
    (when, name, run) => void checks.push({ group: title, name, when, lasts: false, run }),
    (name, run) => void checks.push({ group: title, name, when: {}, lasts: true, run }),
  )
  return checks
}
