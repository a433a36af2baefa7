import { useQuery } from '@tanstack/react-query'
import { BudgetBar } from '../../parts/BudgetBar.tsx'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { nearestBudgets } from '../../parts/nearest-budgets.ts'
import { useIsAdmin, useUser } from '../../parts/useUser.ts'
import { Charts } from './Charts.tsx'
import { Figures } from './Figures.tsx'
import { Providers } from './Providers.tsx'
import { SetUp } from './SetUp.tsx'
import { WhereItGoes } from './WhereItGoes.tsx'
import { words } from './words.ts'
import classes from './overview.module.css'

/** Whether the gateway works, what it costs, and what needs somebody. */
export default function Overview() {
  const isAdmin = useIsAdmin()
  return (
    <Page title={words.title}>
      <div className={classes.parts}>
        {isAdmin ? <SetUp /> : <Budgets />}
        <Figures />
        <Charts />
        <div className={classes.columns} data-whole={!isAdmin || undefined}>
          <WhereItGoes />
          {isAdmin && (
            <div className={classes.side}>
              <Providers />
              <Budgets />
            </div>
          )}
        </div>
      </div>
    </Page>
  )
}

/** How many budgets are shown. */
const most = 5

/** The budgets of keys and members that are used up the most; viewers see their own, and those of their keys. */
function Budgets() {
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
