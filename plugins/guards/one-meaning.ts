import { GatewayError } from '../../engine/index.ts'
import type { Body, Envelope, Host, Json, JsonObject } from '../../engine/index.ts'
import { isObject, repeatsKey } from '../../engine/kit.ts'
import { bodies, conversation } from './texts.ts'

/** Fields of bodies that hold messages, items or parts; the other judged ones hold JSON of any form. */
const spoken = new Set(
  'messages system instructions input contents systemInstruction system_instruction prompt content requests'.split(' '),
)

/** Fields of messages and items in which further messages, parts and calls stand. */
const inner = new Set(
  'content parts tool_calls function functionCall function_call functionResponse function_response'.split(' '),
)

/** Fields by which a guard knows whose text it is, and how it is read. */
const telling = new Set([...inner, ...'role type text arguments args response input variables output'.split(' ')])

/** Bodies that repeat nothing, so that they are read once. */
const plain = new WeakSet<Body>()

/**
 * A request that every parser reads as guards do. Its body is printed anew where it repeats a member. Throws
 * `invalid_value` for a member in other capitals, which a parser that ignores case takes for one that is judged.
 */
export function withOneMeaning(request: Envelope, host: Host): Envelope {
  const { body, raw, sent, protocol } = request
  checkBody(body, '')
  if (!raw.bytes || plain.has(raw)) return request
  const { fields = [] } = host.codec(protocol).located ?? {}
  const own = Object.entries(sent).filter(([name]) => !fields.includes(name))
  if (repeatsKey(raw.bytes.toString(), Object.fromEntries(own))) return request.rewrite((one) => one)
  plain.add(raw)
  return request
}

function checkBody(body: JsonObject, place: string): void {
  checkNames(body, conversation, place)
  for (const [name, value] of Object.entries(body)) {
    if (spoken.has(name)) checkWithin(value, place + name)
    if (bodies.has(name) && isObject(value)) checkBody(value, `${place}${name}.`)
  }
}

function checkWithin(value: Json | undefined, at: string): void {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) checkWithin(item as Json, `${at}[${index}]`)
  if (!isObject(value)) return
  checkNames(value, telling, `${at}.`)
  for (const name in value) if (inner.has(name)) checkWithin(value[name], `${at}.${name}`)
}

function checkNames(object: JsonObject, names: ReadonlySet<string>, place: string): void {
  for (const name in object) {
    if (names.has(name)) continue
    const known = folded(names).get(fold(name))
    if (known !== undefined)
      throw new GatewayError('invalid_value', { param: place + name, reason: `it is written "${known}"` })
  }
}

const all = new Map<ReadonlySet<string>, ReadonlyMap<string, string>>()

/** The names by what a parser that ignores case makes of them. */
function folded(names: ReadonlySet<string>): ReadonlyMap<string, string> {
  let known = all.get(names)
  if (!known) all.set(names, (known = new Map([...names].map((name) => [fold(name), name]))))
  return known
}

/** Unicode case folding maps the long s and the Kelvin sign to s and k. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase()
}
