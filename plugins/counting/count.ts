import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import ranks from 'tiktoken/encoders/o200k_base.json' with { type: 'json' }
import { Tiktoken } from 'tiktoken/lite'
import { estimate } from './estimate.ts'
import { pieces } from './pieces.ts'

/** Texts to count the tokens of, and for how many milliseconds at most (loading the encoder not counted). */
export interface CountInput {
  readonly texts: readonly string[]
  readonly budget: number
}

export interface CountOutput {
  readonly tokens: number
  /** False: time ran out, and some of it is estimated from its length. */
  readonly exact: boolean
}

/** Pieces shorter than this are counted faster than they are looked up. */
const cachedLength = 256

const counts = new LRUCache<string, number>({ max: 16_384 })
let encoder: Tiktoken | undefined

/**
 * Counts the tokens of texts in `o200k_base`. For the worker pool. Words such as `<|endoftext|>` count as the text
 * they are. A count is remembered by the hash of its piece, so a growing conversation is counted from where it grew.
 */
export default function count({ texts, budget }: CountInput): CountOutput {
  encoder ??= new Tiktoken(ranks.bpe_ranks, ranks.special_tokens, ranks.pat_str)
  const end = performance.now() + budget
  let tokens = 0
  let exact = true
  for (const text of texts) {
    for (const piece of pieces(text)) {
      const counted = tokensOf(piece, encoder, end)
      exact &&= counted !== undefined
      tokens += counted ?? estimate(piece)
    }
  }
  return { tokens, exact }
}

function tokensOf(piece: string, encoder: Tiktoken, end: number): number | undefined {
  const key = piece.length < cachedLength ? undefined : hash('sha256', piece, 'base64')
  const known = key === undefined ? undefined : counts.get(key)
  if (known !== undefined) return known
  if (performance.now() >= end) return undefined
  const { length } = encoder.encode_ordinary(piece)
  if (key !== undefined) counts.set(key, length)
  return length
}
