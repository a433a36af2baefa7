import { useEffect, useId, useRef } from 'react'
import type { ReactNode } from 'react'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import classes from './Dialog.module.css'

interface DialogProps {
  readonly title: string
  /** Absent: only what is inside closes it. */
  readonly onClose?: (() => void) | undefined
  readonly wide?: boolean
  readonly children: ReactNode
}

/**
 * A dialog over the page, for as long as it is rendered. The browser keeps the focus inside, closes it by Escape, and
 * gives the focus back. The first field has it at first, or the one with `data-autofocus` (HTML `dialog`, opened as modal).
 */
export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const id = useId()
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // The browser would focus the button that closes it.
    const field = dialog?.querySelector<HTMLElement>('[data-autofocus]') ?? dialog?.querySelector<HTMLElement>('input')
    field?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      className={classes.dialog}
      data-wide={wide || undefined}
      // Without it, a second press of Escape closes the dialog whatever `onCancel` says.
      closedby={onClose ? 'closerequest' : 'none'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <div className={classes.head}>
        <h2 id={id}>{title}</h2>
        {onClose && <Button look="quiet" icon="close" aria-label={shared.close} onClick={onClose} />}
      </div>
      {children}
    </dialog>
  )
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className={classes.actions}>{children}</div>
}
