import { Suspense, lazy, useState } from 'react'
import { whenAnswered } from '../../parts/load.ts'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { Tabs, useTab } from '../../parts/Tabs.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { Decisions } from './Decisions.tsx'
import { words } from './words.ts'

const names = ['decisions', 'settings', 'experience', 'judge', 'export'] as const
const tabs = names.map((value) => ({ value, label: words.tab[value] }))

const Settings = lazy(() => whenAnswered(() => import('./Settings.tsx')))
const views = {
  decisions: Decisions,
  settings: Settings,
  experience: lazy(() => whenAnswered(() => import('./Experience.tsx'))),
  judge: lazy(() => whenAnswered(() => import('./Judge.tsx'))),
  export: lazy(() => whenAnswered(() => import('./Export.tsx'))),
}

/** Why requests went where they went, and what other settings would have done. */
export default function Routing() {
  const [tab, choose] = useTab(names)
  // Settings that were typed are not lost when somebody looks at another tab.
  const [typed, setTyped] = useState(false)
  if (tab === 'settings' && !typed) setTyped(true)
  const View = views[tab]
  return (
    <Page title={words.title}>
      {useIsAdmin() ? (
        <Tabs label={words.tabs} tabs={tabs} value={tab} onChange={choose}>
          <Suspense fallback={<Skeleton height={320} />}>
            {typed && (
              <div hidden={tab !== 'settings'}>
                <Settings />
              </div>
            )}
            {tab !== 'settings' && <View />}
          </Suspense>
        </Tabs>
      ) : (
        <Forbidden what={words.forbidden} />
      )}
    </Page>
  )
}
