import type { Json } from './schema.ts'

type JsonMap = { readonly [name: string]: Json }

/** What was touched and not yet saved: the new value at the path of its field; `null` resets. */
export type Draft = Readonly<Record<string, Json>>

/** One thing that saving would change. */
export interface Change {
  readonly path: string
  /** `undefined`: it was not set. */
  readonly from: Json | undefined
  readonly to: Json
}

const isMap = (value: Json | undefined): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value at a path, or `undefined`. */
export function valueAt(values: Json | undefined, path: string): Json | undefined {
  return path
    .split('.')
    .reduce<Json | undefined>(
      (value, name) => (isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      values,
    )
}

/** Whether two values are the same, whatever the order of their members. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, index) => isSame(value, other[index] as Json))
  if (isMap(one) && isMap(other)) {
    const names = Object.keys(one)
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
    )
  }
  return one === other
}

/** An object with another value at a path. */
export function replaced(whole: Json | undefined, path: string, value: Json): JsonMap {
  const [name = '', ...rest] = path.split('.')
  const own = isMap(whole) ? whole : {}
  return { ...own, [name]: rest.length === 0 ? value : replaced(own[name], rest.join('.'), value) }
}

/**
 * The draft after a field got a value. It takes the place of what was drafted below the field; where what the field is
 * part of was drafted as a whole, it becomes part of that.
 */
export function drafted(draft: Draft, path: string, value: Json): Draft {
  const above = Object.keys(draft).find((other) => path.startsWith(`${other}.`) && isMap(draft[other]))
  if (above !== undefined) return { ...draft, [above]: replaced(draft[above], path.slice(above.length + 1), value) }
  const apart = Object.entries(draft).filter(
    ([other]) => other !== path && !other.startsWith(`${path}.`) && !path.startsWith(`${other}.`),
  )
  return { ...Object.fromEntries(apart), [path]: value }
}

/** The draft without a field, which is as it was again. */
export const undrafted = (draft: Draft, path: string): Draft =>
  Object.fromEntries(Object.entries(draft).filter(([other]) => other !== path))

/**
 * What of a draft is not as it was when it was sent. A field that has its old value again is no part of a draft any more,
 * but it has to be sent once more; but for `secrets`, whose old value is unknown.
 */
export function changedSince(sent: Draft, now: Draft, values: Json, secrets: readonly string[] = []): Draft {
  const isDrafted = (path: string) =>
    Object.keys(now).some((other) => other === path || other.startsWith(`${path}.`) || path.startsWith(`${other}.`))
  const back = Object.keys(sent).filter((path) => !isDrafted(path) && !secrets.includes(path))
  return {
    ...Object.fromEntries(Object.entries(now).filter(([path, value]) => !isSame(value, sent[path]))),
    ...Object.fromEntries(back.map((path) => [path, valueAt(values, path) ?? null])),
  }
}

/** What a field shows: the drafted value, or else the saved one. */
export function shownAt(values: Json, draft: Draft, path: string): Json | undefined {
  if (Object.hasOwn(draft, path)) return draft[path]
  const above = Object.keys(draft).find((other) => path.startsWith(`${other}.`))
  return above === undefined ? valueAt(values, path) : valueAt(draft[above], path.slice(above.length + 1))
}

/** What saving would change; a field that has its old value again is none. */
export function changesOf(values: Json, draft: Draft): readonly Change[] {
  return Object.entries(draft)
    .map(([path, to]) => ({ path, from: valueAt(values, path), to }))
    .filter(({ from, to }) => !isSame(from, to) && !(from === undefined && to === null))
}

/**
 * The body of a PATCH (RFC 7396) or of a POST: changed fields alone. Members that a map has lost are `null`; lists are
 * sent whole. A secret has no saved value, so that what was drafted for it is always sent; name it in `secrets`.
 */
export function bodyOf(values: Json, draft: Draft, secrets: readonly string[] = []): JsonMap {
  const hidden = Object.entries(draft)
    .filter(([path, to]) => to === null && secrets.includes(path))
    .map(([path, to]) => ({ path, from: undefined, to }))
  const body = {}
  for (const { path, from, to } of [...changesOf(values, draft), ...hidden])
    put(body, path.split('.'), isMap(from) && isMap(to) ? patchOf(from, to) : to)
  return body
}

function patchOf(from: JsonMap, to: JsonMap): JsonMap {
  const lost = Object.keys(from).filter((name) => !Object.hasOwn(to, name))
  const changed = Object.entries(to).filter(([name, value]) => !isSame(from[name], value))
  return {
    ...Object.fromEntries(lost.map((name) => [name, null])),
    ...Object.fromEntries(
      changed.map(([name, value]) => {
        const before = from[name]
        return [name, isMap(before) && isMap(value) ? patchOf(before, value) : value]
      }),
    ),
  }
}

function put(body: Record<string, Json>, [name = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    body[name] = value
    return
  }
  const inner = { ...(isMap(body[name]) ? body[name] : {}) }
  put(inner, rest, value)
  body[name] = inner
}
