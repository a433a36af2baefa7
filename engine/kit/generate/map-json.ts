import { mostMembers } from '../../json/parse.ts'
import { outline } from '../../json/outline.ts'
import { readUnambiguous } from '../../json/reader.ts'
import { mapMembers, mapTexts } from '../../spec/json.ts'
import type { Json, JsonObject } from '../../spec/json.ts'

/**
 * Returns a text with its unwanted parts replaced. The function must be deterministic, and must find nothing in its
 * own output.
 */
export type TextChange = (text: string) => string

/** Maximum nesting of a text that is treated as JSON. */
const deepest = 100

/**
 * Puts every text in a JSON object, including member names, through `change`; for use with `request.rewrite`. A text
 * that is itself JSON is changed as JSON, numbers included, so that escapes hide nothing; it is then changed as plain
 * text, too. A text with a repeated key, or nested deeper than 100 levels, is not treated as JSON. Binary data stays
 * unchanged: a base64 text of at least a thousand characters, or a data URL with such content. Numbers outside of
 * texts are not changed.
 */
export function mapJson(object: JsonObject, change: TextChange): JsonObject {
  return mapMembers(object, anyText(change), Infinity)
}

/** The change for a text that may be JSON or binary data. */
export function anyText(change: TextChange): TextChange {
  const any: TextChange = (text) => {
    if (isData(text)) return text
    const value = jsonIn(text)
    const changed =
      value === undefined ? value : mapTexts(value, any, Infinity, (number) => changedNumber(number, change))
    const plain = change(text)
    if (changed === value) return plain
    // A match across several texts, such as a key with its value, is still present.
    return plain === text ? JSON.stringify(changed) : change(JSON.stringify(changed))
  }
  return any
}

/** A number as it prints. A number in which `change` finds something becomes a text. */
function changedNumber(number: Json, change: TextChange): Json {
  const printed = JSON.stringify(number)
  const changed = change(printed)
  return changed === printed ? number : changed
}

function isData(text: string): boolean {
  return text.length >= 1024 && /^(?:data:[^,]{0,256};base64,)?[A-Za-z0-9+/_-]+={0,2}$/.test(text)
}

function jsonIn(text: string): Json | undefined {
  if (!/^\s{0,64}[{[]/.test(text)) return undefined
  try {
    outline(text, { depth: deepest, members: mostMembers })
    return readUnambiguous(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
