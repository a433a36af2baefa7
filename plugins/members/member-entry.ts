import type { Ingress, JsonObject, Scope, Services } from '../../engine/index.ts'
import { requesterOf } from '../../engine/kit.ts'
import type { Member } from './member.ts'

/** A row of the audit trail: what members do about their own sessions. */
export function memberEntry(
  action: string,
  { id, username, role }: Pick<Member, 'id' | 'username' | 'role'>,
  { ingress, scope, details }: { readonly ingress: Ingress; readonly scope: Scope; readonly details?: JsonObject },
): Parameters<Services['audit']['record']>[0] {
  const principal = { kind: 'member', id, name: username, role } as const
  const by = requesterOf(scope, { ingress, principal })
  return { action, by, target: { type: 'member', id, name: username }, ...(details && { details }) }
}
