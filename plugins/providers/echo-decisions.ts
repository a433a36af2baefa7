import { createHash } from 'node:crypto'
import type { DecideAnswer, DecideQuestion, DecideReply, DecideRequest } from '../../engine/index.ts'
import { tokensOf } from './echo-words.ts'

/**
 * Deterministic answers: each depends only on the evidence and its question, not on the question's name or position.
 */
export function decided({ evidence, questions }: DecideRequest, model: string): DecideReply {
  const read = evidence.flat().map((part) => {
    if (part.type === 'image') return part.data
    return part.type === 'text' ? part.text : JSON.stringify(part.value)
  })
  const asked = questions.map((question) => JSON.stringify({ ...question, name: undefined }))
  const seed = read.join('\n')
  return {
    model,
    answers: questions.map((question, index) => answered(question, `${seed}\n${asked[index]}`)),
    usage: {
      input: tokensOf(...read, ...asked),
      cacheRead: 0,
      cacheWrite: 0,
      output: questions.length,
      reasoning: 0,
    },
  }
}

function answered(question: DecideQuestion, seed: string): DecideAnswer {
  switch (question.type) {
    case 'predicate':
      return { type: 'predicate', probability: shares(seed, 2)[0] ?? 0 }
    case 'choice': {
      const probabilities = shares(seed, question.choices.length)
      const confidence = Math.max(...probabilities)
      return { type: 'choice', choice: probabilities.indexOf(confidence), probabilities, confidence }
    }
    case 'score': {
      const probabilities = shares(seed, question.levels.length)
      const score = probabilities.reduce((sum, share, index) => sum + share * index, 0)
      return { type: 'score', score: rounded(score), probabilities, confidence: Math.max(...probabilities) }
    }
  }
}

/** Probabilities of four decimals whose sum is 1. The largest absorbs the rounding error. */
function shares(seed: string, count: number): readonly number[] {
  const bytes = createHash('shake256', { outputLength: count }).update(seed).digest()
  // Cubes, because decision models are seldom undecided.
  const weights = Array.from(bytes, (byte) => (byte + 1) ** 3)
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const parts = weights.map((weight) => rounded(weight / sum))
  const largest = parts.indexOf(Math.max(...parts))
  const rest = parts.reduce((total, part) => total - part, 1)
  return parts.map((part, index) => (index === largest ? rounded(part + rest) : part))
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
