import { mostMembers } from '../json/parse.ts'
import { outline } from '../json/outline.ts'
import { readUnambiguous } from '../json/reader.ts'
import { mapMembers, mapTexts } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'

/**
 * A text with something else in place of what must not be in it. It has to say the same of the same text, and to find
 * nothing in what it has given.
 */
export type TextChange = (text: string) => string

/** Deepest nesting of a text that is taken for JSON. */
const deepest = 100

/**
 * An object of JSON with every text in it, names of members too, put through `change`: `request.rewrite` takes it. A text
 * that is JSON is changed as JSON, so that escapes hide nothing, numbers in it too, and then as any text. One that has a key
 * twice, or is nested deeper than 100 levels, is no JSON here. Data stays as it is: a text of a thousand characters and
 * more that is base64 and nothing else, or an address with such data in it. Numbers outside of texts are no texts.
 */
export function mapJson(object: JsonObject, change: TextChange): JsonObject {
  return mapMembers(object, anyText(change), Infinity)
}

/** The change for a text that may be JSON, or data. */
export function anyText(change: TextChange): TextChange {
  const any: TextChange = (text) => {
    if (isData(text)) return text
    const value = jsonIn(text)
    const changed =
      value === undefined ? value : mapTexts(value, any, Infinity, (number) => changedNumber(number, change))
    const plain = change(text)
    if (changed === value) return plain
    // What `change` finds across the texts inside, such as a key with its value, is still there.
    return plain === text ? JSON.stringify(changed) : change(JSON.stringify(changed))
  }
  return any
}

/** A number as it prints; one that `change` finds something in becomes a text. */
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
