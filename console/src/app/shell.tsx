import { Outlet, useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useState } from 'react'
import { whenAnswered } from '../parts/load.ts'
import { Attention } from './Attention.tsx'
import { Rail } from './Rail.tsx'
import { SessionOver, useKeptSession } from './session.tsx'
import { TopBar } from './TopBar.tsx'
import { useKeys } from './useKeys.ts'
import { words } from './words.ts'
import classes from './shell.module.css'

const Palette = lazy(() => whenAnswered(() => import('./Palette.tsx')))
const KeyList = lazy(() => whenAnswered(() => import('./KeyList.tsx')))

/** The frame of every page of somebody who is signed in: top bar, rail, and the screen. */
export function Shell() {
  const { pathname } = useLocation()
  // The drawer is open on one page, and closed by going to another.
  const [openAt, setOpenAt] = useState<string>()
  const open = openAt === pathname
  const close = () => setOpenAt(undefined)
  const [over, setOver] = useState<'search' | 'keys'>()
  const search = useCallback(() => setOver('search'), [])
  const help = useCallback(() => setOver('keys'), [])
  useKeptSession()
  useKeys({ search, help })
  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#content">
        {words.skip}
      </a>
      <TopBar menuOpen={open} onMenu={() => setOpenAt(open ? undefined : pathname)} onSearch={search} />
      <Rail open={open} onClose={close} />
      {open && <div className={classes.backdrop} onClick={close} aria-hidden="true" />}
      <main id="content" tabIndex={-1} className={classes.content}>
        <Attention />
        <Outlet />
      </main>
      <Suspense>
        {over === 'search' && <Palette onClose={() => setOver(undefined)} />}
        {over === 'keys' && <KeyList onClose={() => setOver(undefined)} />}
      </Suspense>
      <SessionOver />
    </div>
  )
}
