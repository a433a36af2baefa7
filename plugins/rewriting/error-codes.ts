import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  unsupported_parameter: {
    status: 400,
    message: '{param} is not supported: {reason}.',
    advice: 'Leave the named field out, or name a model that takes it.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
