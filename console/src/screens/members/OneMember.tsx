import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import type { Json } from '../../form/schema.ts'
import { BudgetsCard } from '../../parts/BudgetsCard.tsx'
import { ButtonLink } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { RecordTabs } from '../../parts/RecordTabs.tsx'
import { toast } from '../../parts/toast.tsx'
import { UsageTable } from '../../parts/UsageTable.tsx'
import { useBuckets } from '../../parts/useBuckets.ts'
import { useIsAdmin, useUser } from '../../parts/useUser.ts'
import { shared } from '../../words.ts'
import { AboutMember } from './AboutMember.tsx'
import { Actions } from './Actions.tsx'
import { changeMember, memberUsage, oneMember, resetBudget } from './api.ts'
import type { Member } from './api.ts'
import { fieldsFor, valuesOf } from './fields.ts'
import { MemberState } from './MemberState.tsx'
import { useShowMember } from './useShowMember.ts'
import { words } from './words.ts'
import classes from './members.module.css'

/** One member: his rights, his budget, and what his keys were used for. */
export default function OneMember() {
  if (useIsAdmin()) return <Shown />
  return (
    <Page title={words.oneTitle}>
      <Forbidden what={words.forbidden} />
    </Page>
  )
}

function Shown() {
  const { id = '' } = useParams({ strict: false })
  const query = useQuery(oneMember(id))
  const { data: member } = query
  return (
    <Page
      title={member?.username ?? words.oneTitle}
      aside={member && <MemberState member={member} />}
      actions={
        member && (
          <>
            <ButtonLink to="/logs" search={{ member: member.id }} icon="logs">
              {shared.showInLogs}
            </ButtonLink>
            <Actions member={member} />
          </>
        )
      }
    >
      <Loaded query={query} height={420}>
        {(record) => (
          <RecordTabs label={record.username} settings={<Settings member={record} />} usage={<Usage id={record.id} />}>
            <Budgets member={record} />
            <AboutMember member={record} />
          </RecordTabs>
        )}
      </Loaded>
    </Page>
  )
}

function Settings({ member }: { readonly member: Member }) {
  const isSelf = useUser()?.id === member.id
  const queries = useQueryClient()
  const show = useShowMember()
  const [body, setBody] = useState<{ readonly [name: string]: Json }>({})
  const save = async (sent: object) => {
    show(await changeMember(member, sent))
    toast(shared.saved)
  }
  return (
    <Card>
      <SchemaForm
        fields={fieldsFor('changed', body)}
        onBody={setBody}
        values={valuesOf(member)}
        save={save}
        reload={() => queries.invalidateQueries({ queryKey: oneMember(member.id).queryKey })}
      >
        {isSelf && <p className={classes.text}>{words.you}</p>}
      </SchemaForm>
    </Card>
  )
}

function Budgets({ member }: { readonly member: Member }) {
  const show = useShowMember()
  const { budget, username } = member
  const reset = async () => {
    show(await resetBudget(member))
    toast(words.budgetWasReset(username))
  }
  return (
    <BudgetsCard
      title={words.budgets}
      none={words.noBudgets}
      buckets={useBuckets().ofMember(member)}
      own={budget && { budget, reset }}
    />
  )
}

function Usage({ id }: { readonly id: string }) {
  return (
    <Card title={shared.usage} note={shared.usageNote}>
      <Loaded query={useQuery(memberUsage(id))} height={200}>
        {({ data }) => <UsageTable caption={shared.usage} rows={data} none={words.noUsage} />}
      </Loaded>
    </Card>
  )
}
