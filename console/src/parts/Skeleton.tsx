import classes from './Skeleton.module.css'

/** Holds the place of what is loading, at its final size. Nothing shows for 120 ms: most answers are there by then. */
export function Skeleton({ height, width = '100%' }: { readonly height: number; readonly width?: number | string }) {
  return <div className={classes.skeleton} style={{ height, width }} aria-hidden="true" />
}
