import { useEffect, useSyncExternalStore } from 'react'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { Status } from './Status.tsx'
import classes from './toast.module.css'

interface Toast {
  readonly id: number
  readonly text: string
  /** An error stays until it is dismissed. */
  readonly kind: 'word' | 'error'
  readonly undo?: (() => void) | undefined
}

/** How many are shown at once; an older one leaves. */
const most = 3
const lastsMilliseconds = 8000

let shown: readonly Toast[] = []
let count = 0
const listeners = new Set<() => void>()

function show(next: readonly Toast[]): void {
  shown = next
  for (const listener of listeners) listener()
}

/** Says what was done at the bottom right, for eight seconds; `undo` offers to take it back. */
export function toast(text: string, undo?: () => void): void {
  // Several parts of a page may have the same to say.
  show(
    [...shown.filter((toast) => toast.text !== text), { id: (count += 1), text, kind: 'word' as const, undo }].slice(
      -most,
    ),
  )
}

/** Says that something failed that has no place of its own on the page. It stays until it is dismissed. */
export function toastError(error: Error): void {
  show(
    [
      ...shown.filter(({ text }) => text !== error.message),
      { id: (count += 1), text: error.message, kind: 'error' as const },
    ].slice(-most),
  )
}

const dismiss = (id: number) => show(shown.filter((toast) => toast.id !== id))

/** The place of all toasts, once a page. */
export function Toasts() {
  const toasts = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => shown,
  )
  return (
    <div className={classes.toasts}>
      <div role="status">
        {toasts
          .filter(({ kind }) => kind === 'word')
          .map((one) => (
            <Shown key={one.id} {...one} />
          ))}
      </div>
      <div role="alert">
        {toasts
          .filter(({ kind }) => kind === 'error')
          .map((one) => (
            <Shown key={one.id} {...one} />
          ))}
      </div>
    </div>
  )
}

function Shown({ id, text, kind, undo }: Toast) {
  useEffect(() => {
    if (kind === 'error') return
    const timer = setTimeout(() => dismiss(id), lastsMilliseconds)
    return () => clearTimeout(timer)
  }, [id, kind])
  const takeBack = () => {
    undo?.()
    dismiss(id)
  }
  return (
    <div className={classes.toast}>
      <span className={classes.text}>{kind === 'error' ? <Status state="bad">{text}</Status> : text}</span>
      {undo && (
        <Button small onClick={takeBack}>
          {shared.undo}
        </Button>
      )}
      <Button look="quiet" small icon="close" aria-label={shared.dismiss} onClick={() => dismiss(id)} />
    </div>
  )
}
