import type { Bag } from './bag.ts'
import type { SlotName } from '../spec/slots.ts'
import type { Condition, Place, Scalar, Test } from './nodes.ts'

/**
 * Parses a key and value of `when:`. The slot is the longest known slot name with which the dotted key begins; if
 * there is none, the first segment. Returns a sentence if the value is not a valid test.
 */
export function readCondition(key: string, value: unknown, slots: Iterable<string>, place: Place): Condition | string {
  const owners = [...slots].filter((slot) => key === slot || key.startsWith(`${slot}.`))
  const slot = owners.sort((left, right) => right.length - left.length)[0] ?? key.split('.', 1)[0] ?? key
  const path = key === slot ? [] : key.slice(slot.length + 1).split('.')
  if (path.length === 0)
    return typeof value === 'boolean'
      ? { place, slot, path, test: { kind: 'there', wanted: value } }
      : 'a whole slot is matched by true (it is there) or false'
  const test = readTest(value)
  return typeof test === 'string' ? test : { place, slot, path, test }
}

const choice =
  'a value is matched by a text, a number, true, false, null, a list of these, or a map of "not", "prefix" and "pattern"'

function readTest(value: unknown): Test | string {
  if (isScalar(value)) return { kind: 'is', any: [value] }
  if (Array.isArray(value)) return value.length > 0 && value.every(isScalar) ? { kind: 'is', any: value } : choice
  const tests = Object.entries(value as object).map(([word, inner]) => readWord(word, inner))
  const wrong = tests.find((test) => typeof test === 'string')
  if (wrong !== undefined || tests.length === 0) return wrong ?? choice
  return tests.length === 1 ? (tests[0] as Test) : { kind: 'all', tests: tests as Test[] }
}

function readWord(word: string, value: unknown): Test | string {
  if (word === 'not') {
    const test = readTest(value)
    return typeof test === 'string' ? test : { kind: 'not', test }
  }
  if (word !== 'prefix' && word !== 'pattern') return choice
  const any: readonly unknown[] = Array.isArray(value) ? value : [value]
  const texts = any.filter((text) => typeof text === 'string' && text !== '') as string[]
  return any.length > 0 && texts.length === any.length
    ? { kind: word, any: texts }
    : `"${word}" takes a text, or a list of texts`
}

/** Whether a condition that holds proves that its slot is set. A negated one proves it by failing. */
export function proves({ test }: Condition): boolean {
  return !holds(test, undefined)
}

/** All conditions of a map as one function. */
export function matcher(conditions: readonly Condition[]): (slots: Bag) => boolean {
  const tests = conditions.map(tester)
  return (slots) => tests.every((test) => test(slots))
}

function tester({ slot, path, test }: Condition): (slots: Bag) => boolean {
  if (test.kind === 'there') return (slots) => (slots[slot as SlotName] !== undefined) === test.wanted
  return (slots) => holdsAt(test, slots[slot as SlotName], path, 0)
}

/**
 * Whether a test holds for the value at a path. In a list, one matching member is enough, along the path and at its
 * end. A missing value equals nothing.
 */
function holdsAt(test: Test, value: unknown, path: readonly string[], at: number): boolean {
  if (test.kind === 'not') return !holdsAt(test.test, value, path, at)
  if (test.kind === 'all') return test.tests.every((one) => holdsAt(one, value, path, at))
  const step = path[at]
  if (Array.isArray(value) && step !== undefined && /^\d+$/.test(step))
    return holdsAt(test, value[Number(step)], path, at + 1)
  if (Array.isArray(value) || value instanceof Set) {
    for (const member of value) if (holdsAt(test, member, path, at)) return true
    return false
  }
  if (step === undefined) return holds(test, value)
  if (typeof value !== 'object' || value === null) return false
  return holdsAt(test, (value as Record<string, unknown>)[step], path, at + 1)
}

function holds(test: Test, value: unknown): boolean {
  switch (test.kind) {
    case 'is':
      return test.any.includes(value as Scalar)
    case 'prefix':
      return typeof value === 'string' && test.any.some((prefix) => value.startsWith(prefix))
    case 'pattern':
      return typeof value === 'string' && test.any.some((pattern) => fits(value, pattern))
    case 'not':
      return !holds(test.test, value)
    case 'all':
      return test.tests.every((one) => holds(one, value))
    case 'there':
      return (value !== undefined) === test.wanted
  }
}

/** Whether a text matches a pattern. Each part takes its first possible place, so the time is linear. */
export function fits(text: string, pattern: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
