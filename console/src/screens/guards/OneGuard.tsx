import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Values } from '../../form/Values.tsx'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { ConfirmName } from '../../parts/ConfirmName.tsx'
import { Declared } from '../../parts/Declared.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { SwitchButton } from '../../parts/SwitchButton.tsx'
import { Tabs, useTab } from '../../parts/Tabs.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { shared } from '../../words.ts'
import { change, guard as one, kinds, remove } from './api.ts'
import type { Guard, Kind } from './api.ts'
import { bodyWith, guardFields, usualOnErrorOf, valuesOf } from './fields.ts'
import { State } from './State.tsx'
import { TryText } from './TryText.tsx'
import { Verdicts } from './Verdicts.tsx'
import { words } from './words.ts'
import classes from './guards.module.css'

const names = ['settings', 'usage'] as const
const tabs = names.map((value) => ({ value, label: words.tab[value] }))

/** One guard: its settings beside a text to try, and what it did. */
export function OneGuard({ name }: { readonly name: string }) {
  const query = useQuery(one(name))
  const [tab, choose] = useTab(names)
  const known = query.data
  return (
    <Page
      title={name}
      aside={
        known && (
          <>
            {known.kind !== null && <Tag>{known.kind}</Tag>}
            <Tag>{words.actions[known.action]}</Tag>
            {known.source === 'file' && <Tag>{words.inFile}</Tag>}
            <State guard={known} />
          </>
        )
      }
      actions={known && <Actions guard={known} />}
    >
      <Loaded query={query} height={420}>
        {(guard) => (
          <Tabs label={words.tabs} tabs={tabs} value={tab} onChange={choose}>
            {tab === 'usage' ? (
              <Verdicts name={name} />
            ) : (
              <div className={classes.columns}>
                <Settings guard={guard} reload={query.refetch} />
                <TryText guard={name} />
              </div>
            )}
          </Tabs>
        )}
      </Loaded>
    </Page>
  )
}

interface SettingsProps {
  readonly guard: Guard
  readonly reload: () => Promise<unknown>
}

function Settings({ guard, reload }: SettingsProps) {
  return (
    <Card title={words.settings}>
      <Loaded query={useQuery(kinds)} height={320}>
        {(all) => {
          const kind = all.find((known) => known.kind === guard.kind)
          return kind ? (
            <Form guard={guard} kind={kind} reload={reload} />
          ) : (
            <Empty text={words.unknownKind(guard.kind ?? '')} />
          )
        }}
      </Loaded>
    </Card>
  )
}

/** The form of a guard; read-only text for one that the file declares. */
function Form({ guard, kind, reload }: SettingsProps & { readonly kind: Kind }) {
  const queries = useQueryClient()
  const fields = guardFields(kind, false)
  const values = valuesOf(guard, fields)
  const usual = { on_error: usualOnErrorOf(guard) }
  const { name, source, declared_at: at, secrets = {} } = guard
  if (source === 'file')
    return (
      <>
        <Declared at={at ? `${at.file}:${at.line}` : null} />
        <Values fields={fields} values={values} usual={usual} secrets={secrets} />
      </>
    )
  return (
    <SchemaForm
      fields={fields}
      values={values}
      usual={usual}
      secrets={secrets}
      reload={reload}
      save={async (body) => {
        queries.setQueryData(one(name).queryKey, await change(guard, bodyWith(body)))
        void queries.invalidateQueries({ queryKey: ['guards', 'list'] })
        toast(shared.saved)
      }}
    />
  )
}

/** The verdicts that rows of the log have, by what a guard does. */
const verdictsOf = { deny: ['denied'], mask: ['masked'], flag: ['flagged'] } as const

function Actions({ guard }: { readonly guard: Guard }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [deletes, setDeletes] = useState(false)
  const { name, enabled, source, action } = guard
  const turn = async (record: Guard, on: boolean) => {
    const now = await change(record, { enabled: on })
    queries.setQueryData(one(name).queryKey, now)
    void queries.invalidateQueries({ queryKey: ['guards', 'list'] })
    return now
  }
  const guarded = action === 'retry' || action === 'fallback' ? Object.values(verdictsOf).flat() : verdictsOf[action]
  return (
    <>
      <ButtonLink to="/logs" search={{ guarded }} icon="logs">
        {words.logs}
      </ButtonLink>
      {source === 'database' && (
        <>
          <SwitchButton record={guard} name={name} isOn={enabled} turn={turn} />
          <Button look="danger" icon="trash" onClick={() => setDeletes(true)}>
            {words.delete}
          </Button>
        </>
      )}
      {deletes && (
        <ConfirmName
          title={words.deleteNamed(name)}
          name={name}
          action={words.deleteNamed(name)}
          onClose={() => setDeletes(false)}
          onConfirm={async () => {
            await remove(guard)
            await navigate({ to: '/guards', search: {} })
            queries.removeQueries({ queryKey: one(name).queryKey })
            for (const key of [['guards'], ['names', 'guard']]) void queries.invalidateQueries({ queryKey: key })
            toast(words.deleted(name))
          }}
        >
          <p>{words.deleteWhat}</p>
        </ConfirmName>
      )}
    </>
  )
}
