import { Link } from '@tanstack/react-router'
import { ahead, money, share } from '../format.ts'
import { shared } from '../words.ts'
import { leftOf, partsOf, stateOf } from './budgets.ts'
import type { Bucket, Budget } from './budgets.ts'
import { Status } from './Status.tsx'
import classes from './BudgetBar.module.css'

interface BudgetBarProps {
  /** Drawn in this order. */
  readonly buckets: readonly Bucket[]
  /** Says what is left, too, and when it begins anew. */
  readonly detailed?: boolean
}

/** Budgets as bars, with what is spent of each; what is held for requests under way is hatched. */
export function BudgetBar({ buckets, detailed = false }: BudgetBarProps) {
  if (buckets.length === 0) return null
  return (
    <ul className={classes.buckets}>
      {buckets.map((bucket) => (
        <li key={bucket.id} className={classes.bucket}>
          <Whose {...bucket} />
          <Spent bucket={bucket} />
          {bucket.budget && <Bar budget={bucket.budget} state={stateOf(bucket)} />}
          {bucket.budget && detailed && <Details {...bucket.budget} />}
        </li>
      ))}
    </ul>
  )
}

function Whose({ whose, to }: Bucket) {
  return (
    <span className={classes.whose} title={whose}>
      {to === undefined ? whose : <Link to={to}>{whose}</Link>}
    </span>
  )
}

/** `$91.20 of $100.00 a month`, with a sign where it is near its end. */
export function Spent({ bucket }: { readonly bucket: Bucket }) {
  const { budget, words = '' } = bucket
  const state = stateOf(bucket)
  const text = budget ? spentText(budget) : words
  if (state === undefined) return <span className={classes.spent}>{text}</span>
  const sign = state === 'bad' ? shared.usedUp : shared.usedBy(share(budget ? partsOf(budget).spent : 1))
  return (
    <span className={classes.spent} title={sign}>
      <Status state={state}>{text}</Status>
    </span>
  )
}

/** `$91.20 of $100.00 a month`. */
export const spentText = ({ spent, usd, period }: Budget): string =>
  shared.spentOf(money(spent), money(usd), shared.periods[period])

/** The bar alone, for where its figures stand beside it. */
export function Bar({ budget, state }: { readonly budget: Budget; readonly state: 'bad' | 'warning' | undefined }) {
  const { spent, taken } = partsOf(budget)
  return (
    <div className={classes.bar} data-state={state} aria-hidden="true">
      <div style={{ width: `${spent * 100}%` }} />
      <div className={classes.held} style={{ width: `${(taken - spent) * 100}%` }} />
    </div>
  )
}

function Details(budget: Budget) {
  const { held, resets_at: resets } = budget
  return (
    <p className={classes.details}>
      <span>{shared.moneyLeft(money(leftOf(budget)))}</span>
      {held > 0 && <span>{shared.moneyHeld(money(held))}</span>}
      {resets !== null && (
        <time dateTime={resets} title={resets}>
          {shared.beginsAnew(ahead(resets))}
        </time>
      )}
    </p>
  )
}
