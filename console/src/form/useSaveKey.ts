import { useEffect } from 'react'
import { useLatest } from '../parts/useLatest.ts'

/**
 * Ctrl+S, or ⌘S, while the form is shown and the focus is in it or nowhere else. Gives the listener of the form, which
 * also hears its dialogs.
 */
export function useSaveKey(form: React.RefObject<HTMLFormElement | null>, submit: () => void) {
  const press = (event: KeyboardEvent | React.KeyboardEvent) => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || !form.current?.checkVisibility()) return
    event.preventDefault()
    event.stopPropagation()
    submit()
  }
  const latest = useLatest(press)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (document.activeElement === document.body) latest.current(event)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [latest])
  return press
}
