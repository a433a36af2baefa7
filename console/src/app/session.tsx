import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { useRouter } from '@tanstack/react-router'
import { renewSession } from '../api/account.ts'
import { heldSession, isHalfOver, onSession, sessionIsOver } from '../api/session.ts'
import { Dialog } from '../parts/Dialog.tsx'
import { SignInForm } from '../parts/SignInForm.tsx'
import { useUser } from '../parts/useUser.ts'
import { words } from './words.ts'

/** When the session is over, asks for the password again over the page, which keeps what was typed into it. */
export function SessionOver() {
  const over = useSyncExternalStore(onSession, sessionIsOver)
  const user = useUser()
  const queries = useQueryClient()
  if (!over || !user) return null
  const goOn = () => {
    // What stands on the page is of somebody else.
    if (heldSession()?.user.id !== user.id) location.assign('/')
    else void queries.invalidateQueries()
  }
  return (
    <Dialog title={words.sessionOver}>
      <p>{words.sessionOverText}</p>
      <SignInForm username={user.username} onDone={goOn} />
    </Dialog>
  )
}

const everyMilliseconds = 20_000

/**
 * Renews the session after half of its life, if the user did something since the last look. Leaves for the sign-in when
 * the user signed out, here or in another tab, and forgets what he was shown.
 */
export function useKeptSession(): void {
  const router = useRouter()
  const queries = useQueryClient()
  useEffect(() => {
    const leave = async () => {
      await router.navigate({ to: '/sign-in', search: {} })
      // The page that is left would ask again for what is gone before it is.
      if (!heldSession()) queries.clear()
    }
    return onSession(() => {
      if (!heldSession()) void leave()
    })
  }, [router, queries])
  useEffect(() => {
    let active = true
    const act = () => (active = true)
    const look = () => {
      if (!active || sessionIsOver() || !isHalfOver()) return
      active = false
      // At its longest life it cannot be renewed, and without an answer the next look tries again.
      renewSession().catch(() => undefined)
    }
    const timer = setInterval(look, everyMilliseconds)
    const kinds = ['pointerdown', 'keydown', 'wheel', 'focus'] as const
    for (const kind of kinds) addEventListener(kind, act, { passive: true })
    return () => {
      clearInterval(timer)
      for (const kind of kinds) removeEventListener(kind, act)
    }
  }, [])
}
