import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  reveal_off: {
    status: 403,
    message: 'Secrets of providers are not shown: the setting security.reveal_keys is off.',
    advice: 'Set security.reveal_keys in the configuration, or read the key where it was declared.',
  },
  sync_refused: {
    status: 409,
    message: '{reason}',
    advice: 'Look at the refused changes; apply them with force if they are right.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
