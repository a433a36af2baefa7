import type { FormEvent, ReactNode } from 'react'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { Dialog, DialogActions } from './Dialog.tsx'
import { Failure } from './Failure.tsx'
import { useAction } from './useAction.ts'

interface ConfirmProps {
  readonly title: string
  /** The button that does it. */
  readonly action: string
  /** `danger`: it takes something away. */
  readonly look?: 'primary' | 'danger'
  /** Whether all is said that is needed for it. */
  readonly ready?: boolean
  /** Does it, and closes the dialog; a refusal is shown inside. */
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
  /** What will happen, in numbers, and what has to be said for it. */
  readonly children: ReactNode
}

/** Asks before something is done. */
export function Confirm({ title, action, look = 'primary', ready = true, onConfirm, onClose, children }: ConfirmProps) {
  const { busy, error, act } = useAction()
  const confirm = (event: FormEvent) => {
    event.preventDefault()
    if (ready) act(onConfirm)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={confirm}>
        {children}
        {error && <Failure error={error} />}
        <DialogActions>
          <Button onClick={onClose}>{shared.cancel}</Button>
          <Button type="submit" look={look} busy={busy} disabled={!ready}>
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
