import { useState } from 'react'
import { money } from '../format.ts'
import { shared } from '../words.ts'
import { BudgetBar } from './BudgetBar.tsx'
import type { Bucket, Budget } from './budgets.ts'
import { Button } from './Button.tsx'
import { Card } from './Card.tsx'
import { Confirm } from './Confirm.tsx'

interface BudgetsCardProps {
  readonly title: string
  /** What is said where nothing binds. */
  readonly none: string
  readonly buckets: readonly Bucket[]
  /** The own budget, if the user may begin it anew, and what does so. */
  readonly own?: { readonly budget: Budget; readonly reset: () => Promise<void> } | null | false
}

/** Every budget that binds somebody, the tightest first. */
export function BudgetsCard({ title, none, buckets, own }: BudgetsCardProps) {
  const [asking, setAsking] = useState(false)
  const close = () => setAsking(false)
  return (
    <Card
      title={title}
      actions={
        own && (
          <Button small onClick={() => setAsking(true)}>
            {shared.resetBudget}
          </Button>
        )
      }
    >
      {buckets.length === 0 ? <p>{none}</p> : <BudgetBar buckets={buckets} detailed />}
      {asking && own && (
        <Confirm
          title={shared.resetBudget}
          action={shared.resetBudget}
          onConfirm={() => own.reset().then(close)}
          onClose={close}
        >
          <p>{shared.resetBudgetText(money(own.budget.spent))}</p>
        </Confirm>
      )}
    </Card>
  )
}
