import { defineStage } from '../../engine/index.ts'
import type { Bill, Given, Metered, Scope, Usage } from '../../engine/index.ts'
import { costOf, isPlausible } from './cost.ts'

type Slots = Given<'outcome', 'model' | 'measurement'>

/** Computes usage, and its cost at the prices of the model that answered. No other stage computes money. */
export default defineStage({
  name: 'price',
  summary: 'Compute usage and cost.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      tokens: {
        enum: ['all', 'input'],
        default: 'all',
        description: 'Tokens that are billed: all, or the input alone.',
      },
    },
  } as const,
  needs: ['outcome'],
  reads: ['model', 'measurement'],
  provides: ['bill'],
  build:
    ({ tokens }) =>
    (slots, scope) => ({ bill: billOf(slots, scope, tokens) }),
})

const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
const noOutput = { output: 0, outputAudio: 0, outputImage: 0, reasoning: 0 }
const unasked: Bill = { tokens: nothing, cost: { micros: 0, origin: 'unasked' } }
const unknown: Bill = { tokens: undefined, cost: { micros: undefined, origin: 'unknown' } }

function billOf({ outcome, model, measurement }: Slots, scope: Scope, counted: 'all' | 'input'): Bill {
  // The usage was known only to the process that was lost.
  if (outcome.error?.code === 'worker_lost') return unknown
  if (model === undefined) return scope.times.some(({ name }) => name === 'upstream') ? unknown : unasked
  const metered = measurement?.read()
  if (metered === undefined) return unknown
  if (metered.unasked) return unasked
  const { usage, units } = metered
  const tokens = usage !== undefined && isPlausible(usage) ? usage : undefined
  const billed = tokens && counted === 'input' ? { ...tokens, ...noOutput } : tokens
  const micros = costOf(billed, model.model.pricing, units)
  return { ...units, tokens, cost: { micros, origin: originOf(micros, metered) } }
}

function originOf(micros: number | undefined, { estimated }: Metered): Bill['cost']['origin'] {
  if (micros === undefined) return 'unknown'
  return estimated ? 'estimated' : 'reported'
}
