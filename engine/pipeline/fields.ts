import { didYouMean } from '../config/suggest.ts'
import { fieldFlaw, fieldTypes } from '../config/body-fields.ts'
import type { AnyClientCodec } from '../spec/codec.ts'
import type { AnySlot, SlotField, SlotFields } from '../spec/slot.ts'
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
      return isFields(field)
        ? `"${here}" has no field "${step}"${didYouMean(step, Object.keys(field))}`
        : `"${here}" is a ${typeof field === 'string' ? field : 'word'} and has no fields`
    field = next
  }
  return wrongValue([name, ...path].join('.'), field, test)
}

function inside(field: SlotField, step: string): SlotField | undefined {
  if (field === 'headers' || field === 'texts') return 'text'
  if (field === 'list') return /^\d+$/.test(step) ? 'text' : undefined
  return isFields(field) && Object.hasOwn(field, step) ? field[step] : undefined
}

/** JavaScript types of text and number fields. */
const types: Partial<Record<string, string>> = { text: 'string', list: 'string', number: 'number', boolean: 'boolean' }

function wrongValue(path: string, field: SlotField, test: Test): string | undefined {
  if (field === 'anything') return undefined
  const type = typeof field === 'string' ? types[field] : isFields(field) ? undefined : 'string'
  if (type === undefined) return `"${path}" is not a single value; ask for one of its fields`
  switch (test.kind) {
    case 'not':
      return wrongValue(path, field, test.test)
    case 'all':
      return test.tests.map((one) => wrongValue(path, field, one)).find((message) => message !== undefined)
    case 'is': {
      const wrong = test.any.find((value) => typeof value !== type)
      if (wrong !== undefined) return mismatch(path, type, wrong)
      const words = typeof field === 'string' || isFields(field) ? undefined : field
      const other = words && test.any.find((value) => !words.includes(String(value)))
      return other === undefined ? undefined : `"${path}" is ${words?.join(', ')} and never "${other}"`
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

/**
 * What a condition probably gets wrong: it asks for a field that requests of the protocol lack, for a value of another
 * type, for another protocol, or for a `*` where that is no pattern.
 * @param codecs those of the clients whose requests the condition may see
 */
export function doubtfulCondition(
  { slot, path, test }: Condition,
  codecs: readonly AnyClientCodec[],
): { readonly code: string; readonly message: string } | undefined {
  const values = comparedWith(test)
  const doubt = (message: string, code = 'unknown-field') => ({ code, message })
  const starred = values.find((value) => typeof value === 'string' && /[\w.-]\*$/.test(value))
  if (starred !== undefined)
    return doubt(`"${starred}" is compared as it stands; write { pattern: "${starred}" }`, 'condition')
  if (slot !== 'request' || codecs.length === 0) return undefined
  const [first, ...rest] = path
  if (first === 'protocol') {
    const protocols = codecs.map(({ protocol }) => protocol)
    const never = values.find((value) => !protocols.includes(String(value)))
    return never === undefined || test.kind === 'prefix'
      ? undefined
      : doubt(`the protocol is never "${never}" here${didYouMean(String(never), protocols)}`)
  }
  if ((first !== 'body' && first !== 'sent') || rest.length === 0) return undefined
  const flaw = fieldFlaw(codecs, rest)
  if (flaw) return doubt(flaw.message)
  const types = fieldTypes(codecs, rest)
  const wrong = types && values.find((value) => !types.has(value === null ? 'null' : typeof value))
  return wrong === undefined || wrong === null
    ? undefined
    : doubt(`"${path.join('.')}" is never ${JSON.stringify(wrong)} in a valid request`)
}

/** The values with which a test compares, as they stand. */
function comparedWith(test: Test): readonly Scalar[] {
  switch (test.kind) {
    case 'is':
    case 'prefix':
      return test.any
    case 'not':
      return comparedWith(test.test)
    case 'all':
      return test.tests.flatMap(comparedWith)
    default:
      return []
  }
}

/** Whether a field has fields of its own. */
export function isFields(field: SlotField): field is SlotFields {
  return typeof field === 'object' && !Array.isArray(field)
}
