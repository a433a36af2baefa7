import { useSyncExternalStore } from 'react'
import { heldSession, onSession } from '../api/session.ts'

/** The API key of the playground: in memory and the tab's storage, and never sent to `/api`. */
const place = 'sluice-playground-key'
/** The member who holds it, so that it is forgotten when he signs out or another one signs in, also after a reload. */
const ownerPlace = 'sluice-playground-member'
let held = sessionStorage.getItem(place) ?? ''
const listeners = new Set<() => void>()

onSession(forgetOthers)
forgetOthers()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The key, and the way to hold another one. */
export function useKey(): readonly [string, (key: string) => void] {
  return [useSyncExternalStore(subscribe, () => held), holdKey]
}

/** Holds another key; an empty one is none. */
export function holdKey(key: string): void {
  held = key.trim()
  if (held) {
    sessionStorage.setItem(place, held)
    sessionStorage.setItem(ownerPlace, heldSession()?.user.id ?? '')
  } else {
    sessionStorage.removeItem(place)
    sessionStorage.removeItem(ownerPlace)
  }
  for (const listener of listeners) listener()
}

/** Forgets the key of somebody else. A session that is merely over still has its member, who may sign in again. */
function forgetOthers(): void {
  if (held && heldSession()?.user.id !== sessionStorage.getItem(ownerPlace)) holdKey('')
}
