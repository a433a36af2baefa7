import { useQuery } from '@tanstack/react-query'
import { BudgetBar } from '../../parts/BudgetBar.tsx'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { nearestBudgets } from '../../parts/nearest-budgets.ts'
import { useUser } from '../../parts/useUser.ts'
import { words } from './words.ts'
import classes from './overview.module.css'

/** How many budgets are shown. */
const most = 5

/** The budgets of keys and members that are used up the most; viewers see their own, and those of their keys. */
export function Budgets() {
  const user = useUser()
  const query = useQuery(nearestBudgets(user))
  const isAdmin = user?.isAdmin ?? false
  return (
    <Card title={isAdmin ? words.budgets : words.ownBudgets} className={isAdmin ? undefined : classes.ownBudgets}>
      <Loaded query={query} height={80}>
        {(all) =>
          all.length === 0 ? (
            <Empty text={isAdmin ? words.noBudgets : words.noOwnBudgets} />
          ) : (
            <BudgetBar buckets={all.slice(0, most)} />
          )
        }
      </Loaded>
    </Card>
  )
}
