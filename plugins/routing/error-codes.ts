import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  configuration_error: {
    status: 400,
    message: '{reason}',
    advice: 'Set server_config.smart_routing.enabled, and auto_eligible on the models to choose from; or name a model.',
  },
  routing_constraints_unmet: {
    status: 400,
    message: '{reason}',
    advice: 'Relax the constraints of the request; the message says how many models each one left.',
  },
  no_available_models: {
    status: 400,
    message: '{reason}',
    advice: 'Send less, or give a model that takes such requests auto_eligible; the message says what each check left.',
  },
  allowlist_exhausted: {
    status: 403,
    message: '{reason}',
    advice: "Add a model with auto_eligible to the key's list of models, or use another key.",
  },
  provider_off: {
    status: 503,
    retry: 'other',
    message: 'The provider of "{model}" is switched off: {reason}.',
    advice: 'Set the environment variable that the provider needs; "sluice check" names it.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
