import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  model_not_allowed: {
    status: 403,
    message: 'This API key may not use the model "{model}".',
    advice: "Add the model to the key's list of models, or use another key.",
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
