import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  breaker_open: {
    status: 503,
    retry: 'other',
    message: 'The provider of "{model}" fails too often to be asked now.',
    advice:
      'Usually the next candidate answers. The log rows of earlier requests have the failures; an admin can reset the breaker.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
