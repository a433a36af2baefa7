import { useEffect } from 'react'

/** What has an Escape of its own. */
const others = 'input, textarea, select, dialog, [role=dialog], [role=menu], [role=listbox], [role=img]'

/** Closes what is open when Escape is pressed, unless the key belongs to something inside or above it. */
export function useEscape(close: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]')) return
      if (!(event.target as HTMLElement).closest(others)) close()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [close])
}
