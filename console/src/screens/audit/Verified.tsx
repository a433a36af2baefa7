import { Link } from '@tanstack/react-router'
import { useAddress } from '../../parts/search.ts'
import { count } from '../../format.ts'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Status } from '../../parts/Status.tsx'
import type { Verdict } from './api.ts'
import { words } from './words.ts'
import classes from './audit.module.css'

/** Whether the trail is whole; otherwise its first bad row, with a link to it, and why. */
export function Verified({ verdict: { rows, head, first_bad: bad, checkpoints } }: { readonly verdict: Verdict }) {
  const [search] = useAddress()
  const amount = words.rows(count(rows))
  const { read, bad: wrong } = checkpoints
  const unproven = bad === null ? undefined : words.unproven(amount, bad.reason)
  return (
    <p className={classes.verdict} data-state={bad === null ? 'good' : unproven ? 'warning' : 'bad'}>
      {bad === null ? (
        <>
          <Status state="good">{head ? words.whole(amount, `${head.hash.slice(0, 4)}…`) : words.wholeEmpty}</Status>
          {head && <CopyButton text={head.hash} what={words.head} />}
        </>
      ) : unproven ? (
        <Status state="warning">{unproven}</Status>
      ) : (
        <Status state="bad">
          <span>
            {words.notWhole(amount)}
            <Link to="/audit" search={{ ...search, row: String(bad.sequence) }}>
              {words.badRow(count(bad.sequence))}
            </Link>
            {words.because(bad.reason)}
          </span>
        </Status>
      )}
      {read > 0 && bad?.reason !== 'wrong_secret' && (
        <span className={classes.faint}>
          {wrong > 0 ? words.badCheckpoints(count(wrong), count(read)) : words.checkpoints(count(read))}
        </span>
      )}
    </p>
  )
}
