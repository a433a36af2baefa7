import type { ReactNode } from 'react'
import { shared } from '../words.ts'
import { Columns } from './Columns.tsx'
import { Tabs, useTab } from './Tabs.tsx'

interface RecordTabsProps {
  /** Names the list of tabs. */
  readonly label: string
  readonly settings: ReactNode
  readonly usage: ReactNode
  /** Beside the tabs, whichever is shown. */
  readonly children: ReactNode
}

/** A record: its settings and what it was used for, one of them at a time, and beside them what else is known of it. */
export function RecordTabs({ label, settings, usage, children }: RecordTabsProps) {
  const [tab, setTab] = useTab(['settings', 'usage'])
  return (
    <Columns side={children}>
      <Tabs
        label={label}
        tabs={[
          { value: 'settings', label: shared.settings },
          { value: 'usage', label: shared.usage },
        ]}
        value={tab}
        onChange={setTab}
      >
        {tab === 'usage' ? usage : settings}
      </Tabs>
    </Columns>
  )
}
