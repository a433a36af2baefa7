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

/** Fields of the protocol's own objects that hold no text of anybody: names, settings, and data that is no text. */
const silent = new Set(
  (
    'type role id model status name call_id tool_call_id tool_use_id callId server_label server_name detail format ' +
    'media_type mime_type mimeType ttl signature thoughtSignature thought_signature encrypted_content file_url ' +
    'file_id fileUri file_uri file_data b64_json taskType task_type phase namespace index'
  ).split(' '),
)

/** Those that hold none even where they are objects. */
const silentObjects = new Set('cache_control image_url input_audio inline_data inlineData'.split(' '))

/** Fields whose objects are the protocol's own. In all others, clients and tools call their data as they like. */
const own = new Set(
  (
    'messages system instructions input contents content parts item part systemInstruction system_instruction prompt ' +
    'variables requests prediction questions tool_calls function custom function_call functionCall functionResponse ' +
    'function_response audio file fileData file_data source tools summary reasoning_details annotations citations ' +
    'output outputs outcome action actions operation results environment caller pending_safety_checks ' +
    'acknowledged_safety_checks'
  ).split(' '),
)

/** Those in the result of a tool: all other objects there are what the tool has made up. */
const ownOfResults = new Set('parts functionResponse function_response file fileData file_data source tools'.split(' '))

/** Types of the parts of such a result. */
const partsOfResults = new Set(
  (
    'text input_text output_text image image_url input_image input_file input_audio file document refusal ' +
    'computer_screenshot tool_reference'
  ).split(' '),
)

/** Those that the messages API has besides. */
const partsOfMessages = new Set(
  (
    'search_result web_search_result web_search_tool_result_error web_fetch_result web_fetch_tool_result_error ' +
    'code_execution_result encrypted_code_execution_result code_execution_output code_execution_tool_result_error ' +
    'bash_code_execution_result bash_code_execution_output bash_code_execution_tool_result_error ' +
    'text_editor_code_execution_view_result text_editor_code_execution_create_result ' +
    'text_editor_code_execution_str_replace_result text_editor_code_execution_tool_result_error ' +
    'tool_search_tool_search_result tool_search_tool_result_error ' +
    'advisor_result advisor_redacted_result advisor_tool_result_error'
  ).split(' '),
)

/** Parts of the messages API that are results of tools. */
const resultsOfMessages = new Set(
  (
    'tool_result mcp_tool_result web_search_tool_result web_fetch_tool_result code_execution_tool_result ' +
    'bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result advisor_tool_result'
  ).split(' '),
)

/** Fields of Gemini's parts that are results of tools. */
const resultsOfGemini = new Set(
  'functionResponse function_response codeExecutionResult code_execution_result toolResponse tool_response'.split(' '),
)

/** Fields of the items of calls in which the provider that runs the tool puts what it gave. */
const resultsOfCalls = new Set('output outputs results error'.split(' '))

/** Protocols of the messages API; the empty one is that of the events of an answer, whatever they came from. */
const likeMessages = new Set(['messages', 'count-tokens', ''])

/** Whose text a message is, by its role, in each field that holds messages. A role that is not here is no reason. */
const roles: Readonly<Record<string, ReadonlyMap<Json | undefined, Role>>> = {
  messages: new Map([
    ['system', 'system'],
    ['developer', 'system'],
    ['user', 'user'],
    ['assistant', 'assistant'],
    ['tool', 'tool'],
    ['function', 'tool'],
  ]),
  contents: new Map([['model', 'assistant']]),
  input: new Map([
    ['system', 'system'],
    ['developer', 'system'],
    ['user', 'user'],
    ['assistant', 'assistant'],
  ]),
}

/** Whose texts the items of the responses API are that have no role. */
const items: ReadonlyMap<Json | undefined, Role> = new Map([
  ...(
    'function_call custom_tool_call mcp_call mcp_approval_request file_search_call web_search_call computer_call ' +
    'code_interpreter_call image_generation_call local_shell_call shell_call apply_patch_call tool_search_call ' +
    'program reasoning'
  )
    .split(' ')
    .map((type) => [type, 'assistant'] as const),
  ...(
    'function_call_output custom_tool_call_output computer_call_output local_shell_call_output shell_call_output ' +
    'apply_patch_call_output tool_search_output program_output'
  )
    .split(' ')
    .map((type) => [type, 'tool'] as const),
])

/** Fields that tools fill: all of their texts and numbers count, whatever their names. */
const ofTools = new Set(['arguments', 'args', 'response', 'input'])

/** Fields in which a number is said, and no setting. */
const numbered = new Set(['content', 'output'])

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
  return new Walker(replace, protocol).body(body, '')
}

/** Where a value is. */
interface Place {
  readonly at: string
  readonly role: Role
  /** The field that it is the value of, or one of the values. */
  readonly field: string
}

/** Goes through the texts of a body, and replaces some. What does not change stays the same object. */
class Walker {
  readonly #replace: Replace
  readonly #protocol: string
  #turn = 0

  constructor(replace: Replace, protocol: string) {
    this.#replace = replace
    this.#protocol = protocol
  }

  body(body: JsonObject, before: string): JsonObject {
    let isChanged = false
    const entries = Object.entries(body).map(([name, value = null]): [string, Json] => {
      const inner = conversation.has(name) ? this.#root(name, value, before + name) : value
      isChanged ||= inner !== value
      return [name, inner]
    })
    return isChanged ? Object.fromEntries(entries) : body
  }

  #root(name: string, value: Json, at: string): Json {
    if (bodies.has(name) && isObject(value)) return this.body(value, `${at}.`)
    const isSystem = /^(system|instructions|systemInstruction|system_instruction)$/.test(name)
    const isSpoken = name === 'instructions' && this.#protocol === 'speech'
    // Data of the client, with names of its own.
    if (name === 'state' && typeof value !== 'string') return this.#free(value, at, 'user')
    const place: Place = { at, role: isSystem && !isSpoken ? 'system' : 'user', field: name }
    // They stand before the conversation, wherever the body has them.
    if (isSystem && !isSpoken) return new Walker(this.#replace, this.#protocol).#value(value, place)
    // A list of texts to embed is no conversation.
    const isSaid = name in roles && !(name === 'input' && this.#protocol === 'embeddings')
    if (isSaid && Array.isArray(value))
      return this.#list(value as readonly Json[], place, (one, inner) => this.#message(one, inner))
    return name === 'questions' ? this.#named(value, place) : this.#value(value, place)
  }

  /** A message, or an item: it alone says whose text it is. */
  #message(message: Json, place: Place): Json {
    this.#turn++
    if (!isObject(message)) return this.#value(message, place)
    return this.#fields(message, place.at, roleOf(message, place.field), true)
  }

  #value(value: Json, place: Place): Json {
    const { at, role, field } = place
    if (typeof value === 'string') return role === 'tool' ? this.#escaped(value, at, role) : this.#text(value, at, role)
    if (typeof value === 'number') return numbered.has(field) ? this.#number(value, at, role) : value
    if (Array.isArray(value))
      return this.#list(value as readonly Json[], place, (one, inner) => this.#value(one, inner))
    return isObject(value) ? this.#object(value, place) : value
  }

  #list(list: readonly Json[], place: Place, change: (item: Json, place: Place) => Json): Json {
    // Lists of tokens, as embeddings take them, are no texts.
    if (!numbered.has(place.field) && list.every((item) => typeof item === 'number')) return list
    const inner = list.map((item, index) => change(item, { ...place, at: `${place.at}[${index}]` }))
    return inner.some((item, index) => item !== list[index]) ? inner : list
  }

  #object(object: JsonObject, { at, role, field }: Place): Json {
    if (role !== 'tool') return this.#fields(object, at, this.#isResult(object, field) ? 'tool' : role, own.has(field))
    const { type } = object
    const isPart = typeof type === 'string' && (partsOfResults.has(type) || this.#isOfMessages(type, partsOfMessages))
    if (ownOfResults.has(field) || (isPart && own.has(field))) return this.#fields(object, at, role, true)
    return this.#free(object, at, role)
  }

  /** The fields of an object; of the protocol's own, not those that hold no text. */
  #fields(object: JsonObject, at: string, role: Role, isOwn: boolean): Json {
    return this.#members(object, at, (name, value, inner) => {
      if (ofTools.has(name)) return this.#free(value, inner, role)
      if (!isOwn) return this.#value(value, { at: inner, role, field: '' })
      if (name === 'variables') return this.#named(value, { at: inner, role, field: name })
      if (isSilent(object, name, value)) return value
      return this.#value(value, { at: inner, role: this.#holdsResult(object, name, role) ? 'tool' : role, field: name })
    })
  }

  /** Whether a part, or an item in an answer, is the result of a tool. */
  #isResult({ type }: JsonObject, field: string): boolean {
    if (typeof type !== 'string') return false
    if (field === 'content' && this.#isOfMessages(type, resultsOfMessages)) return true
    return this.#protocol === '' && items.get(type) === 'tool'
  }

  #isOfMessages(type: string, types: ReadonlySet<string>): boolean {
    return likeMessages.has(this.#protocol) && types.has(type)
  }

  /** Whether a field is the result of a tool: one of Gemini's, or of one that the provider has run. */
  #holdsResult(object: JsonObject, name: string, role: Role): boolean {
    if (resultsOfGemini.has(name)) return /^(?:gemini|$)/.test(this.#protocol) && isObject(object[name])
    const isSaid = role === 'assistant' || this.#protocol === ''
    return isSaid && resultsOfCalls.has(name) && items.get(object['type']) === 'assistant'
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

  /** Values by names of the client, such as those that it puts into a prompt that the provider has. */
  #named(value: Json, place: Place): Json {
    if (!isObject(value)) return this.#value(value, place)
    return this.#members(value, place.at, (_, member, at) => this.#value(member, { ...place, at }))
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

/** Whose text a message is. What contradicts itself counts as the user's: somebody may read it as that. */
function roleOf({ role, type }: JsonObject, field: string): Role {
  const said = roles[field]?.get(role) ?? 'user'
  if (field !== 'input' || typeof type !== 'string' || type === 'message') return said
  const ofItem = items.get(type) ?? 'user'
  return typeof role === 'string' && ofItem !== said ? 'user' : ofItem
}

/** Whether a field of such an object holds no text of anybody. */
function isSilent(object: JsonObject, name: string, value: Json): boolean {
  if (silentObjects.has(name)) return true
  if (typeof value === 'object' && value !== null) return false
  return silent.has(name) || (name === 'data' && isData(object))
}

/** Whether its data is in base64, as its other fields say. */
function isData({ type, media_type, mimeType, mime_type }: JsonObject): boolean {
  if (type === 'text') return false
  const isOfMedia = [media_type, mimeType, mime_type].some((one) => typeof one === 'string')
  return isOfMedia || (typeof type === 'string' && /base64|redacted|encrypted/.test(type))
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
