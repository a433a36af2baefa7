import { useEffect } from 'react'
import { keysAreOn } from './letter-keys.ts'

const steps: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }

/**
 * The keys of a table: arrows move between the rows while the focus is in it, `j` and `k` do so from anywhere on the
 * page, Enter opens the row (it is a link), and Space ticks its box.
 */
export function useRowKeys(region: HTMLElement | null): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      const isWithin = region?.contains(target) ?? false
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.defaultPrevented) return
      const isBox = isWithin && target.matches('input[type=checkbox]')
      if (!isBox && target.closest('input, textarea, select, dialog, [role=menu]')) return
      const acts = event.key === ' ' ? isWithin && !isBox && tick(target) : step(event.key, isWithin, region)
      if (acts) event.preventDefault()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [region])
}

/** Goes to the next row; false where there is none. */
function step(key: string, isWithin: boolean, region: HTMLElement | null): boolean {
  const by = steps[key]
  const isLetter = key.length === 1
  if (by === undefined || !region || !(isLetter ? keysAreOn() : isWithin)) return false
  const links = [...region.querySelectorAll<HTMLElement>('[data-row-link]')]
  const row = document.activeElement?.closest('tr')
  const at = links.findIndex((link) => link.closest('tr') === row)
  const next = at < 0 ? links[0] : links[at + by]
  next?.focus()
  return next !== undefined
}

/** Ticks the box of the row that has the focus; false where it has none. */
function tick(target: HTMLElement): boolean {
  const box = target.closest('tr')?.querySelector<HTMLElement>('input[type=checkbox]')
  box?.click()
  return box !== undefined && box !== null
}
