import { parseVerbatim } from '../json/parse.ts'
import { mapMembers, mapTexts } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'

/** A text with something else in place of what must not be in it. It has to say the same of the same text. */
export type TextChange = (text: string) => string

/**
 * An object of JSON with every text in it, names of members too, put through `change`: `request.rewrite` takes it. A text
 * that is JSON is changed as JSON, so that escapes hide nothing. Data stays as it is: a text of a thousand characters and
 * more that is base64 and nothing else, or an address with such data in it. Numbers are no texts.
 */
export function mapJson(object: JsonObject, change: TextChange): JsonObject {
  return mapMembers(object, anyText(change), Infinity)
}

/** The change for a text that may be JSON, or data. */
export function anyText(change: TextChange): TextChange {
  const any: TextChange = (text) => {
    if (isData(text)) return text
    const value = jsonIn(text)
    if (value === undefined) return change(text)
    const changed = mapTexts(value, any, Infinity)
    return changed === value ? text : JSON.stringify(changed)
  }
  return any
}

function isData(text: string): boolean {
  return text.length >= 1024 && /^(?:data:[^,]{0,256};base64,)?[A-Za-z0-9+/_-]+={0,2}$/.test(text)
}

function jsonIn(text: string): Json | undefined {
  if (!/^\s{0,64}[{[]/.test(text)) return undefined
  try {
    return parseVerbatim(text, 'all') as Json
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
