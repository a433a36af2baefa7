import { Fragment } from 'react'
import { Dialog } from '../parts/Dialog.tsx'
import { rail } from './rail-screens.ts'
import { useIsShown } from './Rail.tsx'
import { words } from './words.ts'
import classes from './Palette.module.css'

/** The keys that act on every page. */
export default function KeyList({ onClose }: { readonly onClose: () => void }) {
  const isShown = useIsShown()
  const screens = rail.flatMap((group) => group.screens).filter(isShown)
  const keys = [...screens.map(({ letter, name }) => [`g ${letter}`, name] as const), ...words.keys]
  return (
    <Dialog title={words.keysTitle} onClose={onClose}>
      <dl className={classes.keys}>
        {keys.map(([key, what]) => (
          <Fragment key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </Fragment>
        ))}
      </dl>
    </Dialog>
  )
}
