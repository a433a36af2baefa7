import { shared } from '../words.ts'
import { Bar, spentText } from './BudgetBar.tsx'
import { stateOf } from './budgets.ts'
import type { Bucket } from './budgets.ts'
import { Status } from './Status.tsx'
import classes from './BudgetBar.module.css'

/** `Owner m.klein: $38.04 of $50.00 a month`. */
export const bucketText = (bucket: Bucket): string => shared.whoseBudget(bucket.whose, amountText(bucket))

const amountText = ({ budget, words = '' }: Bucket) => (budget ? spentText(budget) : words)

interface BudgetCellProps {
  /** Of these the first is shown; the title of the cell names them all. */
  readonly buckets: readonly Bucket[]
  /** Whose budget it is where nothing is said about it. */
  readonly own: string
}

/** A cell of a table: the bar of the bucket that admits the least, and what is spent of it. */
export function BudgetCell({ buckets: [bucket], own }: BudgetCellProps) {
  if (!bucket) return <span className={classes.none}>{shared.noneSet}</span>
  const state = stateOf(bucket)
  const amount = amountText(bucket)
  const text = bucket.whose === own ? amount : shared.amountOf(amount, bucket.whose)
  return (
    <span className={classes.cell}>
      {bucket.budget && <Bar budget={bucket.budget} state={state} />}
      <span>{state ? <Status state={state}>{text}</Status> : text}</span>
    </span>
  )
}
