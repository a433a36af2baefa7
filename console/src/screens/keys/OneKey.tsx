import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ask } from '../../api/ask.ts'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Allowlist } from '../../parts/Allowlist.tsx'
import { BudgetsCard } from '../../parts/BudgetsCard.tsx'
import { ButtonLink } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Declared } from '../../parts/Declared.tsx'
import { Fact, Facts } from '../../parts/Facts.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { RecordTabs } from '../../parts/RecordTabs.tsx'
import { Status } from '../../parts/Status.tsx'
import { UsageTable } from '../../parts/UsageTable.tsx'
import { rateText } from '../../parts/rate-limit.ts'
import { toast } from '../../parts/toast.tsx'
import { useBuckets } from '../../parts/useBuckets.ts'
import { useIsAdmin, useUser } from '../../parts/useUser.ts'
import { shared } from '../../words.ts'
import { keyUsage, mayMakeKeys, oneKey } from './api.ts'
import type { Key } from './api.ts'
import { AboutKey } from './AboutKey.tsx'
import { Actions } from './Actions.tsx'
import { useChangeKey, useShowKey } from './change.ts'
import { MomentOrNever, stateLooks, Tags } from './columns.tsx'
import { keyFields, valuesOf } from './fields.ts'
import { words } from './words.ts'

/** One key: what it may do, what is left of its budgets, and what it was used for. */
export default function OneKey() {
  const { id = '' } = useParams({ strict: false })
  const query = useQuery(oneKey(id))
  const { data: key } = query
  return (
    <Page
      title={key?.name ?? words.oneTitle}
      aside={key && <Status state={stateLooks[key.state]}>{words.states[key.state]}</Status>}
      actions={key && <Head record={key} />}
    >
      <Loaded query={query} height={420}>
        {(record) => (
          <RecordTabs label={record.name} settings={<Settings record={record} />} usage={<Usage id={record.id} />}>
            <Budgets record={record} />
            <AboutKey record={record} />
          </RecordTabs>
        )}
      </Loaded>
    </Page>
  )
}

/** Whether the user may change a key: an admin those made here, a viewer his own where the settings say so. */
function useMayChange({ source, owner }: Key): boolean {
  const user = useUser()
  const isAdmin = useIsAdmin()
  const mayMake = useQuery(mayMakeKeys).data ?? false
  return source === 'database' && (isAdmin || (mayMake && owner?.id === user?.id))
}

function Head({ record }: { readonly record: Key }) {
  const mayChange = useMayChange(record)
  return (
    <>
      <ButtonLink to="/logs" search={{ key: record.id }} icon="logs">
        {shared.showInLogs}
      </ButtonLink>
      {mayChange && <Actions record={record} />}
    </>
  )
}

function Budgets({ record }: { readonly record: Key }) {
  const isAdmin = useIsAdmin()
  const show = useShowKey()
  const { id, name, budget } = record
  const reset = async () => {
    show(await ask<Key>('POST', `/api/api-keys/${encodeURIComponent(id)}/reset-budget`))
    toast(words.budgetWasReset(name))
  }
  return (
    <BudgetsCard
      title={words.budgets}
      none={words.noBudgets}
      buckets={useBuckets().ofKey(record)}
      own={isAdmin && budget && { budget, reset }}
    />
  )
}

function Settings({ record }: { readonly record: Key }) {
  const isAdmin = useIsAdmin()
  const mayChange = useMayChange(record)
  const change = useChangeKey()
  const queries = useQueryClient()
  if (!mayChange)
    return (
      <Card>
        {record.source === 'file' && <Declared at={placeOf(record)} />}
        <Rights record={record} />
      </Card>
    )
  return (
    <Card>
      <SchemaForm
        fields={keyFields(isAdmin)}
        values={valuesOf(record)}
        save={async (body) => {
          await change(record, body)
          toast(shared.saved)
        }}
        reload={() => queries.invalidateQueries({ queryKey: oneKey(record.id).queryKey })}
      />
    </Card>
  )
}

const placeOf = ({ declared_at: at }: Key) => (at ? `${at.file}:${at.line}` : null)

/** What a key may do, for those who cannot change it. */
function Rights({ record }: { readonly record: Key }) {
  const { owner, models, mcp_servers: servers, rate_limit: limit, expires_at: expires, tags } = record
  const names = words.columns
  return (
    <Facts>
      <Fact name={names.owner}>{owner?.username ?? words.nobody}</Fact>
      <Fact name={names.models}>
        <Allowlist names={models} />
      </Fact>
      <Fact name={names.servers}>
        <Allowlist names={servers} all={words.allServers} />
      </Fact>
      <Fact name={names.limits}>{limit ? rateText(limit) : words.unlimited}</Fact>
      <Fact name={names.expires}>
        <MomentOrNever at={expires} />
      </Fact>
      <Fact name={names.tags}>
        <Tags tags={tags} />
      </Fact>
    </Facts>
  )
}

/** What a key was used for in the last 30 days, by model. */
function Usage({ id }: { readonly id: string }) {
  return (
    <Card title={shared.usage} note={shared.usageNote}>
      <Loaded query={useQuery(keyUsage(id))} height={200}>
        {({ data }) => <UsageTable caption={shared.usage} rows={data} none={words.noUsage} />}
      </Loaded>
    </Card>
  )
}
