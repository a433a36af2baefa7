import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { signOut } from '../../api/account.ts'
import { Allowlist } from '../../parts/Allowlist.tsx'
import { BudgetBar } from '../../parts/BudgetBar.tsx'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { ChangePassword } from '../../parts/ChangePassword.tsx'
import { Fact, Facts } from '../../parts/Facts.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { Page } from '../../parts/Page.tsx'
import { toast, toastError } from '../../parts/toast.tsx'
import { account, ownBudget } from './api.ts'
import type { Account as Shown } from './api.ts'
import { Preferences } from './Preferences.tsx'
import { words } from './words.ts'
import classes from './account.module.css'

/** What concerns the user alone: name, password, budget, preferences, sessions. */
export default function Account() {
  const query = useQuery(account)
  const { data } = query
  // A form that has done its work begins anew.
  const [changed, setChanged] = useState(0)
  const done = () => {
    setChanged(changed + 1)
    toast(words.passwordChanged)
  }
  return (
    <Page title={words.title}>
      <div className={classes.columns}>
        <div className={classes.side}>
          <Card title={words.profile}>
            <Loaded query={query} height={124}>
              {(own) => <Profile {...own} />}
            </Loaded>
          </Card>
          <Card title={words.password}>
            <p className={classes.text}>{words.passwordText}</p>
            <ChangePassword key={changed} onDone={done} />
          </Card>
        </div>
        <div className={classes.side}>
          <Budget />
          {data && <Preferences tracing={data.tracing} />}
          <Sessions />
        </div>
      </div>
    </Page>
  )
}

function Profile({ username, role, models, last_login_at: last, session }: Shown) {
  return (
    <Facts>
      <Fact name={words.username}>{username}</Fact>
      <Fact name={words.role}>{words.roles[role]}</Fact>
      <Fact name={words.models}>
        <Allowlist names={models} />
      </Fact>
      <Fact name={words.lastLogin}>{last === null ? words.unknown : <Moment at={last} />}</Fact>
      <Fact name={words.sessionEnds}>
        <Moment at={session.ends_at} exact />
      </Fact>
    </Facts>
  )
}

function Budget() {
  return (
    <Card title={words.budget}>
      <Loaded query={useQuery(ownBudget)} height={20}>
        {({ budget, keys }) => (
          <div className={classes.side}>
            {budget === null && <p>{words.noBudget}</p>}
            <BudgetBar
              buckets={[
                ...(budget ? [{ id: 'own', whose: words.own, budget }] : []),
                ...keys.flatMap(({ id, name: whose, budget: ofKey }) =>
                  ofKey ? [{ id, whose, to: `/keys/${encodeURIComponent(id)}`, budget: ofKey }] : [],
                ),
              ]}
              detailed
            />
          </div>
        )}
      </Loaded>
    </Card>
  )
}

/** Ends every session of the user. */
function Sessions() {
  return (
    <Card title={words.sessions}>
      <div className={classes.stack}>
        <p className={classes.text}>{words.everywhereText}</p>
        <Button onClick={() => void signOut({ everywhere: true }).catch(toastError)}>{words.everywhere}</Button>
      </div>
    </Card>
  )
}
