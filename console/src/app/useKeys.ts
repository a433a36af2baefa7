import { useMantineColorScheme } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { keysAreOn } from '../parts/letter-keys.ts'
import { useLive } from '../parts/useLive.ts'
import { rail, screenAt } from './rail-screens.ts'
import { useIsShown } from './Rail.tsx'

/** How long after `g` the letter of a screen is waited for. */
const patienceMilliseconds = 1500

interface Opens {
  readonly search: () => void
  readonly help: () => void
}

/** The keys of every page. Single letters do nothing inside of fields and dialogs. */
export function useKeys({ search, help }: Opens): void {
  const router = useRouter()
  const queries = useQueryClient()
  const { toggle } = useLive()
  const { toggleColorScheme } = useMantineColorScheme()
  const isShown = useIsShown()
  const wentAt = useRef(0)
  useEffect(() => {
    const acts: Readonly<Record<string, () => unknown>> = {
      '/': search,
      '?': help,
      '.': () => screenAt(router.latestLocation.pathname)?.ranged && toggle(),
      r: () => void queries.invalidateQueries(),
      t: () => toggleColorScheme(),
      f: () => {
        const add = document.querySelector<HTMLElement>('[data-key-f]')
        // It is where the focus goes back to.
        add?.focus()
        add?.click()
      },
    }
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        return search()
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !keysAreOn()) return
      const target = event.target as HTMLElement
      if (target.isContentEditable || target.closest('input, textarea, select, dialog, [role=menu]')) return
      const isSecond = event.timeStamp - wentAt.current < patienceMilliseconds && wentAt.current > 0
      wentAt.current = !isSecond && event.key === 'g' ? event.timeStamp : 0
      const screen = isSecond
        ? rail.flatMap(({ screens }) => screens).find(({ letter }) => letter === event.key)
        : undefined
      const act = screen && isShown(screen) ? () => void router.navigate({ to: screen.path }) : acts[event.key]
      if (!act || (isSecond && !screen)) return
      event.preventDefault()
      act()
    }
    // Before the keys of lists, to which the second letter of `g k` is a step.
    addEventListener('keydown', press, true)
    return () => removeEventListener('keydown', press, true)
  }, [router, queries, search, help, toggle, toggleColorScheme, isShown])
}
