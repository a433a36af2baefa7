import { useNavigate, useParams } from '@tanstack/react-router'
import { oneOf, useAddress } from '../../parts/search.ts'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { AddGuard } from './AddGuard.tsx'
import { GuardList } from './GuardList.tsx'
import { OneGuard } from './OneGuard.tsx'
import { words } from './words.ts'

/** Who judges requests and answers, and what came of it. */
export default function Guards() {
  const { name } = useParams({ strict: false }) as { readonly name?: string }
  const [search, change] = useAddress()
  const navigate = useNavigate()
  if (!useIsAdmin())
    return (
      <Page title={words.title}>
        <Forbidden what={words.forbidden} />
      </Page>
    )
  if (name !== undefined) return <OneGuard key={name} name={name} />
  if (oneOf(search, 'add') === undefined) return <GuardList />
  return (
    <Page key="add" title={words.add}>
      <AddGuard
        onDone={(made) => void navigate({ to: `/guards/${encodeURIComponent(made.name)}`, search: {} })}
        onCancel={() => change({ add: undefined })}
      />
    </Page>
  )
}
