import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AddModels } from '../../catalog/AddModels.tsx'
import { changeProvider, provider as one, testProvider } from '../../catalog/providers.ts'
import type { Provider } from '../../catalog/providers.ts'
import { TestResult } from '../../catalog/TestResult.tsx'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Page } from '../../parts/Page.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { SwitchButton } from '../../parts/SwitchButton.tsx'
import { Tabs, useTab } from '../../parts/Tabs.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { toastError } from '../../parts/toast.tsx'
import { DeleteProvider } from './DeleteProvider.tsx'
import { ProviderSettings } from './ProviderSettings.tsx'
import { State } from './State.tsx'
import { Usage } from './Usage.tsx'
import { words } from './words.ts'

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
  const [deletes, setDeletes] = useState(false)
  const { name, enabled, source } = provider
  const test = useMutation({ mutationFn: () => testProvider(name), onError: toastError })
  const turn = async (record: Provider, on: boolean) => {
    const now = await changeProvider(record, { enabled: on })
    queries.setQueryData(one(name).queryKey, now)
    void queries.invalidateQueries({ queryKey: ['providers', 'list'] })
    return now
  }
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
          <SwitchButton record={provider} name={name} isOn={enabled} turn={turn} />
          <Button look="danger" icon="trash" onClick={() => setDeletes(true)}>
            {words.delete}
          </Button>
        </>
      )}
      {deletes && <DeleteProvider provider={provider} onClose={() => setDeletes(false)} />}
    </>
  )
}
