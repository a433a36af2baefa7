import type { Principal, Requester } from './principal.ts'

/** The roles of members; each may do what those before it may. */
export const roles = ['viewer', 'admin'] as const

export type Role = (typeof roles)[number]

/**
 * Who may run an action: members of a role, or `any` who is signed in; holders of an API key; or everybody. `also` admits
 * sessions that are refused elsewhere: `pending`, of a member who must change the password first; `over`, which has
 * reached its longest life.
 */
export type Access =
  | { readonly role: Role | 'any'; readonly also?: readonly ('pending' | 'over')[] }
  | { readonly key: true }
  | { readonly public: true; readonly reason: string }

/** A change that somebody may not ask for. */
export interface RefusedAction {
  readonly by: Requester
  /** What was refused: the name of the action, or of the pipeline. */
  readonly action: string
  /** The code of the error. */
  readonly code: string
}

/** Whether a member has at least a role. */
export function isOfRole({ role }: Pick<Principal, 'role'>, wanted: Role | 'any' = 'any'): boolean {
  const order: readonly (string | undefined)[] = roles
  return wanted === 'any' || (order.includes(role) && order.indexOf(role) >= order.indexOf(wanted))
}

/** Who may run an action, in one word: `viewer`, `admin`, `any`, `key` or `public`. */
export function accessOf({ access }: { readonly access: Access }): Role | 'any' | 'key' | 'public' {
  return 'role' in access ? access.role : 'key' in access ? 'key' : 'public'
}
