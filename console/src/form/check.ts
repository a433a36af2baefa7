import { count } from '../format.ts'
import type { Field, Json, Schema } from './schema.ts'
import { words } from './words.ts'

/** What a field's value is checked with. */
interface Values {
  readonly valueOf: (path: string) => Json | undefined
  readonly isKept: (path: string) => boolean
}

/**
 * What the browser finds wrong, by path: fields that are needed, and values outside their range, length or pattern. The
 * gateway checks all the rest.
 */
export function flawsOf(fields: readonly Field[], values: Values): Readonly<Record<string, string>> {
  const found = fields.flatMap((field): [string, string][] => {
    if (field.readOnly) return []
    if (field.kind === 'group') return isUnset(field, values) ? [] : Object.entries(flawsOf(field.fields, values))
    const flaw = flawOf(field, values.valueOf(field.path), values.isKept(field.path))
    return flaw === undefined ? [] : [[field.path, flaw]]
  })
  return Object.fromEntries(found)
}

/** Whether a group need not be there, and is not. */
function isUnset({ path, nullable, required }: Field, { valueOf }: Values): boolean {
  return (nullable || !required) && (valueOf(path) ?? null) === null
}

function flawOf({ required, schema }: Field, value: Json | undefined, isKept: boolean): string | undefined {
  if (value === undefined || value === null || value === '')
    return required && !(isKept && value === undefined) && schema.default === undefined ? words.needed : undefined
  if (typeof value === 'string') return flawOfText(value, schema)
  return typeof value === 'number' ? flawOfNumber(value, schema) : undefined
}

function flawOfText(text: string, { minLength = 0, maxLength = Infinity, pattern, patternErrorMessage }: Schema) {
  if (text.length < minLength) return words.tooFew(minLength)
  if (text.length > maxLength) return words.tooMany(maxLength)
  if (pattern === undefined || new RegExp(pattern, 'u').test(text)) return undefined
  return patternErrorMessage === undefined ? words.wrongForm : `It ${patternErrorMessage}.`
}

function flawOfNumber(value: number, { type, minimum, maximum, exclusiveMinimum }: Schema) {
  if ([type].flat().includes('integer') && !Number.isInteger(value)) return words.notWhole
  if (minimum !== undefined && value < minimum) return words.tooLow(count(minimum))
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return words.tooLow(`> ${count(exclusiveMinimum)}`)
  return maximum !== undefined && value > maximum ? words.tooHigh(count(maximum)) : undefined
}
