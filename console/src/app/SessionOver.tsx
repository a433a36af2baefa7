import { useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { heldSession, onSession, sessionIsOver } from '../api/session.ts'
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
