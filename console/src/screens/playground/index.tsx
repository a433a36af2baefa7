import { Suspense, lazy } from 'react'
import { whenAnswered } from '../../parts/load.ts'
import { oneOf, useAddress } from '../../parts/search.ts'
import { Page } from '../../parts/Page.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { Tabs, useTab } from '../../parts/Tabs.tsx'
import { Chat } from './Chat.tsx'
import { words } from './words.ts'

const names = ['chat', 'decisions', 'embeddings', 'images', 'audio'] as const
const tabs = names.map((value) => ({ value, label: words.tab[value] }))

const views = {
  decisions: lazy(() => whenAnswered(() => import('./Decisions.tsx'))),
  embeddings: lazy(() => whenAnswered(() => import('./Embeddings.tsx'))),
  images: lazy(() => whenAnswered(() => import('./Images.tsx'))),
  audio: lazy(() => whenAnswered(() => import('./Audio.tsx'))),
}

/** A client like any other: it asks `/v1` with an API key, so what works here works for clients. */
export default function Playground() {
  const [tab, choose] = useTab(names)
  const [search] = useAddress()
  const View = tab === 'chat' ? null : views[tab]
  // Who comes with a model came to ask it: the message has the focus.
  return (
    <Page title={words.title} focusesItself={oneOf(search, 'model') !== undefined}>
      <Tabs label={words.tabs} tabs={tabs} value={tab} onChange={choose}>
        {/* A conversation is not lost when somebody looks at another tab. */}
        <div hidden={tab !== 'chat'}>
          <Chat />
        </div>
        {View && (
          <Suspense fallback={<Skeleton height={320} />}>
            <View />
          </Suspense>
        )}
      </Tabs>
    </Page>
  )
}
