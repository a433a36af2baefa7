import type { Bag } from './run.ts'
import type { SlotName } from '../spec/slots.ts'
import type { Place } from './nodes.ts'

/** A value that a condition can ask for. */
export type Scalar = string | number | boolean | null

/** One line of a `when:` map. */
export interface Condition {
  readonly place: Place
  readonly slot: string
  /** Steps from the slot to the value; none: the slot itself. */
  readonly path: readonly string[]
  /** Of a slot itself: whether it must be there. Of a value: what it may be. */
  readonly accepts: boolean | readonly Scalar[]
}

/**
 * Reads a `when:` key and value. The slot is the longest known one that the dotted key begins with; a key that begins
 * with none names its first segment. Answers a sentence when the value cannot be matched.
 */
export function readCondition(key: string, value: unknown, slots: Iterable<string>, place: Place): Condition | string {
  const owners = [...slots].filter((slot) => key === slot || key.startsWith(`${slot}.`))
  const slot = owners.sort((left, right) => right.length - left.length)[0] ?? key.split('.', 1)[0] ?? key
  const path = key === slot ? [] : key.slice(slot.length + 1).split('.')
  if (path.length === 0)
    return typeof value === 'boolean'
      ? { place, slot, path, accepts: value }
      : 'a whole slot is matched by true (it is there) or false'
  const accepts: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (accepts.length === 0 || !accepts.every(isScalar))
    return 'a value is matched by a text, a number, true, false, null, or a list of these'
  return { place, slot, path, accepts }
}

/** Whether a condition that holds proves that its slot is there. */
export function proves({ accepts }: Condition): boolean {
  return accepts !== false
}

/** All conditions of a map as one test. A value behind something absent equals nothing. */
export function matcher(conditions: readonly Condition[]): (slots: Bag) => boolean {
  const tests = conditions.map(test)
  return (slots) => tests.every((holds) => holds(slots))
}

function test({ slot, path, accepts }: Condition): (slots: Bag) => boolean {
  if (typeof accepts === 'boolean') return (slots) => (slots[slot as SlotName] !== undefined) === accepts
  return (slots) => {
    let value: unknown = slots[slot as SlotName]
    for (const step of path) {
      if (typeof value !== 'object' || value === null) return false
      value = (value as Record<string, unknown>)[step]
    }
    return accepts.includes(value as Scalar)
  }
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
