import { Button } from '../parts/Button.tsx'
import { useLive } from '../parts/useLive.ts'
import { words } from './words.ts'
import classes from './LiveIndicator.module.css'

/** Says whether the page moves, and switches it. Its changes are told politely; what comes in is not. */
export function LiveIndicator() {
  const { shows, reconnecting, toggle } = useLive()
  const word = { live: words.live, paused: words.paused, reconnecting: words.reconnecting(reconnecting ?? 0) }[shows]
  return (
    <>
      <Button onClick={toggle} aria-pressed={shows !== 'paused'}>
        <span className={classes.shape} data-shows={shows} aria-hidden="true" />
        {word}
      </Button>
      <span className="visually-hidden" role="status">
        {shows === 'reconnecting' ? null : word}
      </span>
    </>
  )
}
