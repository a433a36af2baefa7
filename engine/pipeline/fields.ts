import { didYouMean } from '../config/suggest.ts'
import type { AnySlot, SlotField } from '../spec/slot.ts'
import type { Condition, Scalar, Test } from './nodes.ts'

/**
 * The mistake in a condition's field: the slot has no such field, or its values have another type. A path step into a
 * list of candidates may be a number.
 */
export function wrongField({ slot: name, path, test }: Condition, slot: AnySlot | undefined): string | undefined {
  // An undeclared slot may hold anything.
  if (slot === undefined || path.length === 0) return undefined
  if (slot.fields === undefined) return `nothing in "${name}" can be read; ask for the slot itself`
  let field: SlotField = slot.fields
  for (const [at, step] of path.entries()) {
    const here = [name, ...path.slice(0, at)].join('.')
    if (field === 'anything') return undefined
    if (at === 0 && slot.candidates && /^\d+$/.test(step)) continue
    if (field === 'headers' && step !== step.toLowerCase())
      return `names of headers are in lower case here; did you mean "${here}.${step.toLowerCase()}"?`
    const next = inside(field, step)
    if (next === undefined)
      return typeof field === 'string'
        ? `"${here}" is a ${field} and has no fields`
        : `"${here}" has no field "${step}"${didYouMean(step, Object.keys(field))}`
    field = next
  }
  return wrongValue([name, ...path].join('.'), field, test)
}

function inside(field: SlotField, step: string): SlotField | undefined {
  if (field === 'headers' || field === 'texts') return 'text'
  if (field === 'list') return /^\d+$/.test(step) ? 'text' : undefined
  return typeof field === 'object' && Object.hasOwn(field, step) ? field[step] : undefined
}

/** JavaScript types of text and number fields. */
const types: Partial<Record<string, string>> = { text: 'string', list: 'string', number: 'number', boolean: 'boolean' }

function wrongValue(path: string, field: SlotField, test: Test): string | undefined {
  if (field === 'anything') return undefined
  const type = typeof field === 'string' ? types[field] : undefined
  if (type === undefined) return `"${path}" is not a single value; ask for one of its fields`
  switch (test.kind) {
    case 'not':
      return wrongValue(path, field, test.test)
    case 'all':
      return test.tests.map((one) => wrongValue(path, field, one)).find((message) => message !== undefined)
    case 'is': {
      const wrong = test.any.find((value) => typeof value !== type)
      return wrong === undefined ? undefined : mismatch(path, type, wrong)
    }
    case 'prefix':
    case 'pattern':
      return type === 'string' ? undefined : mismatch(path, type, test.any[0] ?? '')
    case 'there':
      return undefined
  }
}

function mismatch(path: string, type: string, value: Scalar): string {
  const words = type === 'string' ? 'a text' : type === 'number' ? 'a number' : 'true or false'
  return `"${path}" is ${words} and never equals ${JSON.stringify(value)}`
}
