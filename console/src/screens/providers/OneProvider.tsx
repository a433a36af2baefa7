import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { AddModels } from '../../catalog/AddModels.tsx'
import { changeProvider, deleteProvider, provider as one, testProvider } from '../../catalog/providers.ts'
import type { Provider } from '../../catalog/providers.ts'
import { TestResult } from '../../catalog/TestResult.tsx'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { ConfirmName } from '../../parts/ConfirmName.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Page } from '../../parts/Page.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { Tabs, useTab } from '../../parts/Tabs.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { toast, toastError } from '../../parts/toast.tsx'
import { ProviderSettings } from './ProviderSettings.tsx'
import { State } from './State.tsx'
import { Usage } from './Usage.tsx'
import { shared } from '../../words.ts'
import { words } from './words.ts'
import classes from './providers.module.css'

const tabs = ['settings', 'models', 'usage'] as const

/** One provider: its settings, its models, what it was asked. */
export function OneProvider({ name }: { readonly name: string }) {
  const { data, error, refetch } = useQuery(one(name))
  const [tab, setTab] = useTab(tabs)
  return (
    <Page
      title={name}
      aside={
        data && (
          <>
            <Tag>{data.type}</Tag>
            {data.source === 'file' && <Tag>{words.inFile}</Tag>}
            <State provider={data} />
          </>
        )
      }
      actions={data && <Actions provider={data} />}
    >
      {error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton height={320} />
      ) : (
        <Tabs
          label={words.tabs}
          tabs={tabs.map((known) => ({ value: known, label: words[known] }))}
          value={tab}
          onChange={setTab}
        >
          {tab === 'settings' ? (
            <ProviderSettings provider={data} reload={refetch} />
          ) : tab === 'usage' ? (
            <Usage provider={name} />
          ) : (
            <Card title={words.addModels} note={words.addModelsNote}>
              <AddModels provider={name} />
            </Card>
          )}
        </Tabs>
      )}
    </Page>
  )
}

function Actions({ provider }: { readonly provider: Provider }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [deletes, setDeletes] = useState(false)
  const { name, enabled, source, models } = provider
  const test = useMutation({ mutationFn: () => testProvider(name), onError: toastError })
  const put = (record: Provider) => {
    queries.setQueryData(one(name).queryKey, record)
    void queries.invalidateQueries({ queryKey: ['providers', 'list'] })
  }
  const turn = useMutation({
    mutationFn: (on: boolean) => changeProvider(provider, { enabled: on }),
    onSuccess: (record, on) => {
      put(record)
      const undo = () => void changeProvider(record, { enabled: !on }).then(put, toastError)
      toast(on ? words.enabled(name) : words.disabled(name), undo)
    },
    onError: toastError,
  })
  return (
    <>
      {test.data && <TestResult tested={test.data} />}
      <Button busy={test.isPending} onClick={() => test.mutate()}>
        {words.test}
      </Button>
      <ButtonLink to="/logs" search={{ provider: name }} icon="logs">
        {words.logs}
      </ButtonLink>
      {source === 'database' && (
        <>
          <Button busy={turn.isPending} onClick={() => turn.mutate(!enabled)}>
            {enabled ? shared.disable : shared.enable}
          </Button>
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
            await deleteProvider(provider, models > 0)
            await navigate({ to: '/providers', search: {} })
            queries.removeQueries({ queryKey: one(name).queryKey })
            await queries.invalidateQueries({ queryKey: ['providers'] })
            toast(words.deleted(name))
          }}
        >
          <p className={classes.text}>{words.goes(models)}</p>
        </ConfirmName>
      )}
    </>
  )
}
