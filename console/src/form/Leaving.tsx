import { useBlocker } from '@tanstack/react-router'
import { oneOf } from '../parts/search.ts'
import type { Search } from '../parts/search.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { words } from './words.ts'

interface Place {
  readonly pathname: string
  readonly search: object
}

const isElsewhere = (here: Place, there: Place, views: readonly string[]): boolean =>
  here.pathname !== there.pathname ||
  views.some((name) => oneOf(here.search as Search, name) !== oneOf(there.search as Search, name))

interface LeavingProps {
  readonly isDirty: boolean
  /** Whether the user said already that the changes may go. */
  readonly isCancelled: React.RefObject<boolean>
  /** Parameters of the address that choose what the page shows: another value takes the form away. */
  readonly views: readonly string[]
}

/** Asks before changes are lost. */
export function Leaving({ isDirty, isCancelled, views }: LeavingProps) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !isCancelled.current && isElsewhere(current, next, views),
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <Dialog title={words.leave} onClose={blocker.reset}>
      <p>{words.leaveWords}</p>
      <DialogActions>
        <Button onClick={blocker.reset}>{words.stay}</Button>
        <Button look="danger" onClick={blocker.proceed}>
          {words.discard}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
