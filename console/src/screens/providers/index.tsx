import { useNavigate, useParams } from '@tanstack/react-router'
import { AddProvider } from '../../catalog/AddProvider.tsx'
import { oneOf, useAddress } from '../../parts/search.ts'
import { Card } from '../../parts/Card.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { OneProvider } from './OneProvider.tsx'
import { ProviderList } from './ProviderList.tsx'
import { words } from './words.ts'
import classes from './providers.module.css'

/** Who answers, with which key, and whether they are well. */
export default function Providers() {
  const { name } = useParams({ strict: false }) as { readonly name?: string }
  const [search, change] = useAddress()
  const navigate = useNavigate()
  if (!useIsAdmin())
    return (
      <Page title={words.title}>
        <Forbidden what={words.forbidden} />
      </Page>
    )
  if (name !== undefined) return <OneProvider key={name} name={name} />
  if (oneOf(search, 'add') === undefined) return <ProviderList />
  return (
    <Page key="add" title={words.add}>
      <Card className={classes.form}>
        <AddProvider
          onDone={(made) => void navigate({ to: `/providers/${encodeURIComponent(made.name)}`, search: {} })}
          onCancel={() => change({ add: undefined })}
        />
      </Card>
    </Page>
  )
}
