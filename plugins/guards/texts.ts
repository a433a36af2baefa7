import { isObject, mapTexts, outline, readUnambiguous } from '../../engine/kit.ts'
import type { Json, JsonObject, JudgedText } from '../../engine/index.ts'

/** Whose text it is. */
export type Role = JudgedText['role']

/** A text of a request. */
export interface RequestText {
  /** Its place: `messages[2].content`. */
  readonly at: string
  readonly role: Role
  readonly text: string
  /** Number of the turn that it belongs to: one more with each message. */
  readonly turn: number
}

/** The text in place of another; undefined: it stays. */
type Replace = (text: RequestText) => string | undefined

/** Fields that hold a whole body of another operation. */
export const bodies: ReadonlySet<string> = new Set(['generateContentRequest', 'generate_content_request'])

/** The fields of bodies that hold what is said; others hold settings. */
export const conversation: ReadonlySet<string> = new Set(
  (
    'messages system instructions input contents systemInstruction system_instruction prompt content requests ' +
    'evidence state questions prediction suffix reference generateContentRequest generate_content_request'
  ).split(' '),
)

/** Fields within them that hold no text of anybody: names of things, settings, and data that is no text. */
const silent = new Set(
  (
    'type role id model status name call_id tool_call_id tool_use_id callId server_label server_name detail format ' +
    'media_type mime_type mimeType cache_control ttl signature thoughtSignature thought_signature encrypted_content ' +
    'image_url file_url file_id fileUri file_uri file_data input_audio inline_data inlineData b64_json taskType task_type ' +
    'phase namespace index'
  ).split(' '),
)

/** Fields that tools fill: all of their texts and numbers count, whatever their names. */
const ofTools = new Set(['arguments', 'args', 'response'])

/** The texts of a request, in the order of its body. */
export function textsIn(body: JsonObject, protocol: string): readonly RequestText[] {
  const texts: RequestText[] = []
  walk(body, protocol, (text) => void texts.push(text))
  return texts
}

/** The body with other texts. */
export function withTexts(body: JsonObject, protocol: string, replace: Replace): JsonObject {
  return walk(body, protocol, replace)
}

function walk(body: JsonObject, protocol: string, replace: Replace): JsonObject {
  return new Walker(replace).body(body, '', protocol)
}

/** Goes through the texts of a body, and replaces some. What does not change stays the same object. */
class Walker {
  readonly #replace: Replace
  #turn = 0

  constructor(replace: Replace) {
    this.#replace = replace
  }

  body(body: JsonObject, place: string, protocol: string): JsonObject {
    let isChanged = false
    const entries = Object.entries(body).map(([name, value = null]): [string, Json] => {
      const inner = conversation.has(name) ? this.#root(name, value, place, protocol) : value
      isChanged ||= inner !== value
      return [name, inner]
    })
    return isChanged ? Object.fromEntries(entries) : body
  }

  #root(name: string, value: Json, place: string, protocol: string): Json {
    const at = place + name
    if (bodies.has(name) && isObject(value)) return this.body(value, `${at}.`, protocol)
    const isSystem = /^(system|instructions|systemInstruction|system_instruction)$/.test(name)
    const isSpoken = name === 'instructions' && protocol === 'speech'
    return this.#value(value, at, isSystem && !isSpoken ? 'system' : 'user')
  }

  #value(value: Json, at: string, role: Role): Json {
    if (typeof value === 'string') return role === 'tool' ? this.#escaped(value, at, role) : this.#text(value, at, role)
    if (Array.isArray(value)) return this.#list(value as readonly Json[], at, role)
    return isObject(value) ? this.#object(value, at, role) : value
  }

  #list(list: readonly Json[], at: string, role: Role): Json {
    // Lists of tokens, as embeddings take them, are no texts.
    if (list.every((item) => typeof item === 'number')) return list
    const inner = list.map((item, index) => this.#value(item, `${at}[${index}]`, role))
    return inner.some((item, index) => item !== list[index]) ? inner : list
  }

  #object(object: JsonObject, at: string, outer: Role): Json {
    const role = roleOf(object, outer)
    const isMessage = typeof object['role'] === 'string' || isItem(object)
    if (isMessage) this.#turn++
    return this.#members(object, at, (name, value, place) => {
      if (isData(object, name)) return value
      if (ofTools.has(name) || (name === 'input' && isCall(object))) return this.#free(value, place, role)
      if (name === 'variables') return this.#variables(value, place, role)
      if (silent.has(name)) return value
      if (name === 'tool_calls') return this.#value(value, place, 'assistant')
      return this.#value(value, place, role)
    })
  }

  #members(object: JsonObject, at: string, change: (name: string, value: Json, at: string) => Json): JsonObject {
    let isChanged = false
    const entries = Object.entries(object).map(([name, value = null]): [string, Json] => {
      const inner = change(name, value, `${at}.${name}`)
      isChanged ||= inner !== value
      return [name, inner]
    })
    return isChanged ? Object.fromEntries(entries) : object
  }

  /** What the client puts into a prompt that the provider has, whatever its names. */
  #variables(value: Json, at: string, role: Role): Json {
    if (!isObject(value)) return this.#value(value, at, role)
    return this.#members(value, at, (_, member, place) => this.#value(member, place, role))
  }

  /** What a tool gets or gives: JSON, also as a text, in which names and numbers may be what is looked for. */
  #free(value: Json, at: string, role: Role): Json {
    const any = (text: string): string => {
      const inner = jsonIn(text)
      if (inner === undefined) return this.#escaped(text, at, role)
      const changed = mapped(inner)
      return changed === inner ? text : JSON.stringify(changed)
    }
    const mapped = (one: Json) => mapTexts(one, any, Infinity, (number) => this.#number(number, at, role))
    return mapped(value)
  }

  /**
   * A text that may be JSON, or a part of it, which may repeat names: as it stands, and its pieces between quotes
   * without their escapes.
   */
  #escaped(text: string, at: string, role: Role): string {
    const whole = this.#text(text, at, role)
    if (!text.includes('\\')) return whole
    const pieces = mapPieces(text, (piece) => {
      const plain = unescaped(piece)
      const changed = this.#text(plain, at, role)
      return changed === plain ? piece : JSON.stringify(changed).slice(1, -1)
    })
    return pieces === text ? whole : pieces
  }

  /** A number becomes a text where something is found in it. */
  #number(value: Json, at: string, role: Role): Json {
    const printed = JSON.stringify(value)
    if (printed.length < 6) return value
    const replaced = this.#text(printed, at, role)
    return replaced === printed ? value : replaced
  }

  #text(text: string, at: string, role: Role): string {
    if (text === '' || isDataUrl(text)) return text
    const replaced = this.#replace({ at, role, text, turn: this.#turn })
    if (replaced === undefined || replaced === text) return text
    return replaced
  }
}

function roleOf(object: JsonObject, outer: Role): Role {
  const { role, type } = object
  if (typeof type === 'string') {
    if (/(_output|_result)$/.test(type)) return 'tool'
    if (isCall(object) || /^(reasoning|thinking|redacted_thinking)$/.test(type)) return 'assistant'
  }
  if ('functionResponse' in object || 'function_response' in object) return 'tool'
  switch (role) {
    case 'system':
    case 'developer':
      return 'system'
    case 'user':
      return 'user'
    case 'assistant':
    case 'model':
      return 'assistant'
    case 'tool':
    case 'function':
      return 'tool'
    default:
      return outer
  }
}

/** Whether it is an item of its own, as the responses API lists them. */
function isItem({ type }: JsonObject): boolean {
  return typeof type === 'string' && /(_call|_call_output|^reasoning)$/.test(type)
}

function isCall({ type }: JsonObject): boolean {
  return typeof type === 'string' && /(tool_use|_call)$/.test(type)
}

/** Base64 data, whose fields say so. */
function isData(object: JsonObject, name: string): boolean {
  return name === 'data' && object['type'] !== 'text'
}

/** Whether a text is binary data, such as a picture: its beginning alone may stand before any text. */
function isDataUrl(text: string): boolean {
  return (
    text.length >= leastData &&
    text.startsWith('data:') &&
    /^data:(?:application|audio|font|image|video)\/[a-z0-9.+-]{1,64};base64,[A-Za-z0-9+/]+={0,2}$/.test(text)
  )
}

/** Characters that data has at least: what is shorter is judged as a text. */
const leastData = 1_024

/** Deepest nesting of a text that is read as JSON. */
const deepest = 100

/** The value of a text that is JSON with one meaning alone. */
function jsonIn(text: string): Json | undefined {
  if (!/^\s{0,64}[{["]/.test(text)) return undefined
  try {
    outline(text, { depth: deepest, members: 2_000_000 })
    return readUnambiguous(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** A text with other pieces between its quotes. */
function mapPieces(text: string, change: (piece: string) => string): string {
  let given = ''
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 92) at++
    if (code !== 34 && at < text.length) continue
    const piece = text.slice(start, at)
    given += (/[\p{L}\p{N}]/u.test(piece) ? change(piece) : piece) + text.slice(at, at + 1)
    start = at + 1
  }
  return given
}

const letters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** A text with what its escapes stand for, also where they are escaped again. */
function unescaped(text: string): string {
  let plain = text
  for (let times = 0; times < 4 && plain.includes('\\'); times++)
    plain = plain.replaceAll(/\\(?:u([0-9a-fA-F]{4})|([^]))/g, (_, code: string | undefined, letter: string) =>
      code === undefined ? (letters[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
    )
  return plain
}
