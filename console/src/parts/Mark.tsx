import classes from './Mark.module.css'

/** A sluice: two posts, the gate between them, and water below. */
export function Mark({ size = 20 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" fill="none" strokeLinecap="round" aria-hidden="true">
      <path className={classes.posts} strokeWidth="2" d="M3 2v16M17 2v16" />
      <path className={classes.gate} d="M6.5 3h7v7h-7z" />
      <path
        className={classes.water}
        strokeWidth="1.5"
        d="M5 13.5c1.7-1.3 3.3 1.3 5 0s3.3 1.3 5 0M5 17c1.7-1.3 3.3 1.3 5 0s3.3 1.3 5 0"
      />
    </svg>
  )
}
