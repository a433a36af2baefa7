import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  window_too_large: {
    status: 422,
    message: 'The answer would be too large: {reason}.',
    advice: 'Ask for a shorter time, a longer interval or fewer groups.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
