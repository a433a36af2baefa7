import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import ranks from 'tiktoken/encoders/o200k_base.json' with { type: 'json' }
import { Tiktoken } from 'tiktoken/lite'
import { estimate } from './estimate.ts'
import { pieces } from './pieces.ts'

/** Texts to count, and a time limit in milliseconds (without the time to load the encoder). */
export interface CountInput {
  readonly texts: readonly string[]
  readonly budget: number
}

export interface CountOutput {
  readonly tokens: number
  /** False if time ran out and a part was estimated from its length. */
  readonly exact: boolean
}

/** Shorter pieces are faster to count than to look up in the cache. */
const cachedLength = 256

const counts = new LRUCache<string, number>({ max: 16_384 })
let encoder: Tiktoken | undefined

/**
 * Counts the tokens of texts in `o200k_base`, in the worker pool. Special tokens such as `<|endoftext|>` are counted as
 * plain text. Counts are cached by the hash of their piece, so that only the new part of a growing conversation is
 * counted.
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
