import { useSyncExternalStore } from 'react'
import { heldSession, onSession } from '../api/session.ts'
import type { Session } from '../api/session.ts'

export type User = Session['user'] & { readonly isAdmin: boolean }

/** Who is signed in. Inside the shell there always is somebody; a screen before it gets `null`. */
export function useUser(): User | null {
  const session = useSyncExternalStore(onSession, heldSession)
  return session && { ...session.user, isAdmin: session.user.role === 'admin' }
}

/** Whether the user is an admin. */
export function useIsAdmin(): boolean {
  return useUser()?.isAdmin ?? false
}
