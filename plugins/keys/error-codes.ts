import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  self_service_off: {
    status: 403,
    message: 'Members may not make keys: the setting security.self_service_keys is off.',
    advice: 'Ask an admin for a key, or to set security.self_service_keys.',
  },
  too_many_keys: {
    status: 409,
    message: 'A member may have at most {limit} API keys.',
    advice: 'Delete a key, or raise security.max_keys_per_member.',
  },
  outside_own_limits: {
    status: 422,
    message: '{param} exceeds what this account may use itself.',
    advice: 'Ask for no more than the account itself may use.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
