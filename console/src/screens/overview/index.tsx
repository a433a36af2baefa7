import { Page } from '../../parts/Page.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { Budgets } from './Budgets.tsx'
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
