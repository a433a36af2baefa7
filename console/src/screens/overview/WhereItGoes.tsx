import { useQuery } from '@tanstack/react-query'
import { useZone } from '../../parts/zone.ts'
import { buckets, minute } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Segments } from '../../parts/Segments.tsx'
import { Table } from '../../parts/Table.tsx'
import { useLive } from '../../parts/useLive.ts'
import { useOneOf } from '../../parts/useOneOf.ts'
import { useRange } from '../../parts/useRange.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { shared } from '../../words.ts'
import { groupings, usage } from './api.ts'
import type { Grouping, Usage } from './api.ts'
import { columnsOf, namedBy } from './columns.tsx'
import { words } from './words.ts'
import classes from './overview.module.css'

/** The requests, tokens and money of the range by model, provider, key or member; the dearest first. */
export function WhereItGoes() {
  const range = useRange()
  const { interval } = useLive()
  // A viewer's requests are all of one member.
  const shown = useIsAdmin() ? groupings : groupings.filter((name) => name !== 'member')
  const [grouping, choose] = useOneOf('group', shown, 'model')
  const query = useQuery({ ...usage(range, grouping), refetchInterval: interval })
  return (
    <Card
      title={words.whereItGoes}
      note={
        <Segments
          label={words.groupLabel}
          value={grouping}
          onChange={choose}
          options={shown.map((value) => ({ value, label: words.groups[value] }))}
        />
      }
      actions={<Legend />}
    >
      <Loaded query={query} height={192}>
        {(used) => <Rows {...used} grouping={grouping} />}
      </Loaded>
    </Card>
  )
}

/** The names of the buckets of tokens, beside their colours. */
function Legend() {
  return (
    <ul className={classes.legend}>
      {buckets.map(({ name, label, series }) => (
        <li key={name}>
          <span style={{ background: `var(--series-${series})` }} />
          {label}
        </li>
      ))}
    </ul>
  )
}

function Rows({ data, total, since, grouping }: Usage & { readonly grouping: Grouping }) {
  const range = useRange()
  const zone = useZone()
  if (data.length === 0) return <Empty text={words.empty} />
  const dearest = data.toSorted((one, other) => (other.cost ?? 0) - (one.cost ?? 0) || other.requests - one.requests)
  return (
    <>
      <Table
        caption={words.whereItGoes}
        columns={columnsOf(grouping, total.cost ?? 0)}
        rows={dearest}
        idOf={({ group }) => JSON.stringify(group)}
        to={({ group }) => {
          const value = namedBy(group, grouping)?.value
          if (value === undefined) return undefined
          const served = grouping === 'model' && group.provider ? { provider: group.provider } : {}
          return { to: '/logs', search: { ...range.search, [grouping]: value, ...served } }
        }}
      />
      <p className={classes.hours}>{words.wholeHours(minute(since, zone), shared.zones[zone])}</p>
    </>
  )
}
