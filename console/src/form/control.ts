import type { ReactNode } from 'react'
import type { Field, Json } from './schema.ts'
import { words } from './words.ts'

/** What is known of a secret that is never shown. */
export interface SecretState {
  readonly set: boolean
  /** Its last characters, if it is long enough to show them. */
  readonly hint: string | null
}

/** The secrets of a map that are set, by name. */
export function secretsIn(
  secrets: Readonly<Record<string, SecretState | undefined>>,
  path: string,
): Readonly<Record<string, SecretState>> {
  const own = Object.entries(secrets).flatMap(([one, secret]): [string, SecretState][] =>
    secret?.set && one.startsWith(`${path}.`) ? [[one.slice(path.length + 1), secret]] : [],
  )
  return Object.fromEntries(own)
}

/** What every control of a form gets. */
export interface ControlProps {
  readonly field: Field
  /** Undefined and `null`: not set. */
  readonly value: Json | undefined
  /** The value that holds where none is set. */
  readonly usual: Json | undefined
  readonly error: string | undefined
  readonly secret: SecretState | undefined
  readonly onChange: (value: Json) => void
  /** Leaves a secret as it is saved. */
  readonly onKeep: () => void
  /** Says that what is typed is no value at all, or that it is one again. */
  readonly onFlaw: (flaw: string | undefined) => void
}

/** Where fields read and write, by path. */
export interface Bindings {
  readonly valueOf: (path: string) => Json | undefined
  /** The value that holds where none is set. */
  readonly usualOf: (path: string) => Json | undefined
  readonly errorOf: (path: string) => string | undefined
  readonly secretOf: (path: string) => SecretState | undefined
  /** The secrets of a map that are set, by name. */
  readonly secretsIn: (path: string) => Readonly<Record<string, SecretState>>
  readonly isTouched: (path: string) => boolean
  /** The path of a field that is never folded. */
  readonly wanted?: string | undefined
  /** Beside the field: from where its value is. */
  readonly asideOf?: ((path: string) => ReactNode) | undefined
  readonly onChange: (path: string, value: Json) => void
  readonly onKeep: (path: string) => void
  /** Where a path is in the whole form; those of an entry begin at itself. */
  readonly placeOf: (path: string) => string
  readonly onFlaw: (place: string, flaw: string | undefined) => void
}

/** A text without the blanks that were copied around it, where the field takes none. */
export function withoutBlanks({ schema: { pattern } }: Field, text: string): string {
  const trimmed = text.trim()
  const fits = (one: string) => pattern === undefined || new RegExp(pattern, 'u').test(one)
  return !fits(text) && fits(trimmed) ? trimmed : text
}

/** A value in one line, as a placeholder or beside another one. */
export function printed(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A value as people read it, with its unit. */
export function textOf(
  { kind, path, schema }: Field,
  shown: Json | undefined,
  secrets: Readonly<Record<string, SecretState | undefined>>,
): string {
  if (kind === 'secret') return secretText(secrets[path])
  const kept = kind === 'secrets' ? Object.entries(secretsIn(secrets, path)) : []
  if (kept.length > 0) return kept.map(([name, secret]) => words.secretNamed(name, secretText(secret))).join('\n')
  if (typeof shown === 'boolean') return shown ? words.yes : words.no
  if (Array.isArray(shown)) return shown.map((one) => printed(one as Json)).join(', ') || words.none
  const isEmpty = typeof shown === 'object' && shown !== null && Object.keys(shown).length === 0
  const text = isEmpty ? '' : printed(shown)
  if (text === '') return words.notSet
  return schema['x-unit'] === undefined ? text : `${text} ${schema['x-unit']}`
}

const secretText = (secret: SecretState | undefined) =>
  secret?.set ? (secret.hint === null ? words.secretKept : words.secretEnds(secret.hint)) : words.notSet
