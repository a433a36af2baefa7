import { useId, useLayoutEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { createPortal } from 'react-dom'
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
 * It stands at the end of the document: what opens it may be hidden, and a modal that is hidden makes the page dead.
 */
export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const id = useId()
  const element = useRef<HTMLDialogElement>(null)
  // Before the dialog leaves the document: once it is out, the browser gives no focus back.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // The browser would focus the button that closes it.
    const field = dialog?.querySelector<HTMLElement>('[data-autofocus]') ?? dialog?.querySelector<HTMLElement>('input')
    field?.focus()
    return () => dialog?.close()
  }, [])
  return createPortal(
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
      // A form inside is not the one that opened it.
      onSubmit={(event) => event.stopPropagation()}
    >
      <div className={classes.head}>
        <h2 id={id}>{title}</h2>
        {onClose && <Button look="quiet" icon="close" aria-label={shared.close} onClick={onClose} />}
      </div>
      {children}
    </dialog>,
    document.body,
  )
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className={classes.actions}>{children}</div>
}
