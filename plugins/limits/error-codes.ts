import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  price_unknown: {
    status: 403,
    message:
      'The model "{model}" has no price for {reason}. Its operator can give it one, or set rate_limits.budget.unknown_price to allow.',
    advice: 'Give the model a price, or set rate_limits.budget.unknown_price to allow.',
  },
  budget_exceeded: {
    status: 429,
    type: 'insufficient_quota',
    message: '{reason}',
    advice: 'Wait until the budget resets, or have it raised; the message says which budget.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
