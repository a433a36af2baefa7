import { useNavigate, useParams } from '@tanstack/react-router'
import { oneOf, useAddress } from '../../parts/search.ts'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { AddServer } from './AddServer.tsx'
import { OneServer } from './OneServer.tsx'
import { ServerList } from './ServerList.tsx'
import { words } from './words.ts'

/** Which tools are served, and whether they are what was approved. */
export default function McpServers() {
  const { name } = useParams({ strict: false }) as { readonly name?: string }
  const [search, change] = useAddress()
  const navigate = useNavigate()
  if (!useIsAdmin())
    return (
      <Page title={words.title}>
        <Forbidden what={words.forbidden} />
      </Page>
    )
  if (name !== undefined) return <OneServer key={name} name={name} />
  if (oneOf(search, 'add') === undefined) return <ServerList />
  return (
    <Page key="add" title={words.add}>
      <AddServer
        onDone={(made) => void navigate({ to: `/mcp-servers/${encodeURIComponent(made.name)}`, search: {} })}
        onCancel={() => change({ add: undefined })}
      />
    </Page>
  )
}
