/**
 * The type of a value at one path step into a slot: a `text`, one of some words (a list of them), a `number`, a
 * `boolean`, a `list` of texts, `headers` (texts by lower-case names), `texts` (by any name), `anything` (any depth), or
 * a value with fields of its own.
 */
export type SlotField =
  | 'text'
  | readonly string[]
  | 'number'
  | 'boolean'
  | 'list'
  | 'headers'
  | 'texts'
  | 'anything'
  | SlotFields

export interface SlotFields {
  readonly [name: string]: SlotField
}

/**
 * A slot as operators see it: its description, the fields that conditions may read, and whether an `attempt` can
 * iterate over it.
 */
export interface SlotParts {
  readonly name: string
  /** What it holds, in one sentence. */
  readonly summary: string
  /** Absent: conditions can only test whether it is set. */
  readonly fields?: SlotFields
  /** Whether it is a list of candidates. */
  readonly candidates?: boolean
}

/** A declared slot in a registry. */
export interface AnySlot extends SlotParts {
  readonly kind: 'slot'
}

/** Declares a slot of a plugin, so that `check` knows its fields. Its type is declared by merging into `Slots`. */
export function defineSlot(slot: SlotParts): AnySlot {
  return { kind: 'slot', ...slot }
}
