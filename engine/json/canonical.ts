import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'

/** Canonical JSON (RFC 8785). Members are sorted by the UTF-16 code units of their names. */
export function canonical(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isObject(value)) return JSON.stringify(value ?? null)
  const names = Object.keys(value).filter((name) => value[name] !== undefined)
  return `{${names
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
    .join()}}`
}
