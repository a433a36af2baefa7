import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  feedback_exists: {
    status: 409,
    message: 'The request "{id}" has been rated already.',
    advice: 'Nothing: a request has one rating, whoever gives it.',
  },
  not_routed: {
    status: 422,
    message: 'No model was chosen for the request "{id}", so there is nothing to rate.',
    advice: 'Rate requests for a virtual model that a model has served.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
