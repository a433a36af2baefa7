export const kinds = ['predicate', 'choice', 'score'] as const
export type Kind = (typeof kinds)[number]

/** A question as somebody types it. */
export interface Question {
  readonly id: number
  readonly kind: Kind
  readonly instructions: string
  /** Of a choice the values, of a score the levels from the lowest on: one per line. */
  readonly lines: string
}

/** An answer to a question, at the question's place. */
export type Answered =
  | { readonly type: 'predicate'; readonly probability: number }
  | {
      readonly type: 'choice'
      readonly choice: string | null
      readonly probabilities: readonly { readonly value: string; readonly probability: number }[]
    }
  | {
      readonly type: 'score'
      readonly score: number
      readonly probabilities: readonly { readonly label: string; readonly probability: number }[]
    }
  | { readonly type: 'refusal' }

const linesOf = (text: string) => text.split('\n').flatMap((line) => line.trim() || [])

/** The question as `POST /v1/decisions` takes it. */
export function questionOf({ kind, instructions, lines }: Question) {
  if (kind === 'choice') return { type: kind, instructions, choices: linesOf(lines).map((value) => ({ value })) }
  if (kind === 'score') return { type: kind, instructions, levels: linesOf(lines).map((label) => ({ label })) }
  return { type: kind, instructions }
}

/** Whether nothing is missing. */
export function isWhole({ kind, instructions, lines }: Question): boolean {
  const least = { predicate: 0, choice: 1, score: 2 }[kind]
  return instructions.trim() !== '' && linesOf(lines).length >= least
}
