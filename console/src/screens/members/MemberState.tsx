import { Status } from '../../parts/Status.tsx'
import type { Member } from './api.ts'
import { words } from './words.ts'

const stateOf = ({ disabled, must_change_password: must }: Member) =>
  disabled ? 'disabled' : must ? 'newPassword' : 'enabled'

export const stateText = (member: Member): string => words.states[stateOf(member)]

const looks = { disabled: 'off', newPassword: 'warning', enabled: 'good' } as const

/** Whether a member may sign in. */
export function MemberState({ member }: { readonly member: Member }) {
  return <Status state={looks[stateOf(member)]}>{stateText(member)}</Status>
}
