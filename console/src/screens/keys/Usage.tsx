import { useQuery } from '@tanstack/react-query'
import { Card } from '../../parts/Card.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { UsageTable } from '../../parts/UsageTable.tsx'
import { shared } from '../../words.ts'
import { keyUsage } from './api.ts'
import { words } from './words.ts'

/** What a key was used for in the last 30 days, by model. */
export function Usage({ id }: { readonly id: string }) {
  return (
    <Card title={shared.usage} note={shared.usageNote}>
      <Loaded query={useQuery(keyUsage(id))} height={200}>
        {({ data }) => <UsageTable caption={shared.usage} rows={data} none={words.noUsage} />}
      </Loaded>
    </Card>
  )
}
