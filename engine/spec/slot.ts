/**
 * What a condition finds at one step into a slot: a `text`, a `number`, a `boolean`, a `list` of texts, `headers` (texts by
 * names in lower case), `texts` (by any name), `anything` (of any depth), or a value with fields of its own.
 */
export type SlotField = 'text' | 'number' | 'boolean' | 'list' | 'headers' | 'texts' | 'anything' | SlotFields

export interface SlotFields {
  readonly [name: string]: SlotField
}

/** A slot as operators see it: what it is, what conditions may read of it, and whether an `attempt` can go over it. */
export interface SlotParts {
  readonly name: string
  /** What it holds, in one sentence. */
  readonly summary: string
  /** Absent: conditions can ask only whether it is there. */
  readonly fields?: SlotFields
  /** Whether it is a list of candidates. */
  readonly candidates?: boolean
}

/** A declared slot, as a registry holds it. */
export interface AnySlot extends SlotParts {
  readonly kind: 'slot'
}

/** Declares a slot of a plugin, so that `check` knows what conditions may read of it. Its type is declared by merging into `Slots`. */
export function defineSlot(slot: SlotParts): AnySlot {
  return { kind: 'slot', ...slot }
}
