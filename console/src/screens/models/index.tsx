import { useParams } from '@tanstack/react-router'
import { oneOf, useAddress } from '../../parts/search.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { AddModel } from './AddModel.tsx'
import { Catalog } from './Catalog.tsx'
import { ModelList } from './ModelList.tsx'
import { OneModel } from './OneModel.tsx'
import { Sync } from './Sync.tsx'

/** What can be asked for. Viewers see the models that they may use. */
export default function Models() {
  const { name } = useParams({ strict: false }) as { readonly name?: string }
  const [search] = useAddress()
  if (!useIsAdmin()) return <Catalog />
  if (name !== undefined) return <OneModel key={name} name={name} />
  if (oneOf(search, 'add') !== undefined) return <AddModel />
  return oneOf(search, 'sync') === undefined ? <ModelList /> : <Sync />
}
