import { Link } from '@tanstack/react-router'
import { count, share } from '../format.ts'
import { partsOf, stateOf } from '../parts/budgets.ts'
import type { Bucket } from '../parts/budgets.ts'
import { shared } from '../words.ts'
import { AttentionLine } from './AttentionLine.tsx'
import { words } from './words.ts'
import classes from './Attention.module.css'

/** How many budgets are named. */
const most = 3

/** The budgets that admit nothing any more, or soon will not: in one line, however many there are. */
export function BudgetsAtEnd({ near }: { readonly near: readonly Bucket[] }) {
  const isUsedUp = near.some((bucket) => stateOf(bucket) === 'bad')
  return (
    <AttentionLine state={isUsedUp ? 'bad' : 'warning'} title={isUsedUp ? words.budgetsUsedUp : words.budgetsNear}>
      <span className={classes.budgets}>
        {near.slice(0, most).map((bucket) => (
          <span key={bucket.id}>
            {bucket.to === undefined ? bucket.whose : <Link to={bucket.to}>{bucket.whose}</Link>} {usedOf(bucket)}
          </span>
        ))}
        {near.length > most && <span>{words.moreBudgets(count(near.length - most))}</span>}
      </span>
    </AttentionLine>
  )
}

const usedOf = (bucket: Bucket): string =>
  stateOf(bucket) === 'bad' || !bucket.budget ? shared.usedUp : shared.usedBy(share(partsOf(bucket.budget).spent))
