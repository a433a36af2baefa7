import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Input.layer.css'
import { Checkbox, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { printed } from '../../form/control.ts'
import { count } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Page } from '../../parts/Page.tsx'
import { useAddress } from '../../parts/search.ts'
import { Segments } from '../../parts/Segments.tsx'
import { Table } from '../../parts/Table.tsx'
import type { Column } from '../../parts/Table.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { shared } from '../../words.ts'
import { syncModels } from './api.ts'
import type { Difference, SyncKind } from './api.ts'
import { words } from './words.ts'
import classes from './models.module.css'

const looks = {
  set: 'good',
  change: 'accent',
  keep_hand: undefined,
  same: undefined,
  refused: 'bad',
  unmatched: undefined,
} as const

const columns: readonly Column<Difference>[] = [
  { name: 'model', label: words.thisModel, cell: ({ model }) => model, text: ({ model }) => model },
  { name: 'field', label: words.value, cell: ({ field }) => <code>{field}</code>, text: ({ field }) => field },
  {
    name: 'old',
    label: words.old,
    number: true,
    cell: (row) => printed(row.old) || '—',
    text: (row) => printed(row.old),
  },
  {
    name: 'new',
    label: words.new,
    number: true,
    cell: (row) => printed(row.new) || '—',
    text: (row) => printed(row.new),
  },
  {
    name: 'ratio',
    label: words.ratio,
    number: true,
    cell: ({ ratio }) => (ratio === null ? '—' : count(ratio)),
    text: ({ ratio }) => ratio,
  },
  {
    name: 'action',
    label: words.syncWhat,
    cell: ({ action }) => {
      const look = looks[action]
      return <Tag {...(look && { look })}>{words.actions[action]}</Tag>
    },
    text: ({ action }) => words.actions[action],
  },
]

/** Compares prices, or limits and abilities, with a public list, and takes what differs. Values set by hand stay. */
export function Sync() {
  const [, change] = useAddress()
  const queries = useQueryClient()
  const [kind, setKind] = useState<SyncKind>('pricing')
  const [url, setUrl] = useState('')
  const [force, setForce] = useState(false)
  const sync = useMutation({
    mutationFn: (apply: boolean) => syncModels(kind, { ...(url === '' ? {} : { url }), apply, force: apply && force }),
    onSuccess: ({ applied, data }) => {
      if (!applied) return
      toast(words.applied(data.filter(({ action }) => takes(action)).length))
      void queries.invalidateQueries({ queryKey: ['models'] })
    },
  })
  const takes = (action: Difference['action']) =>
    action === 'set' || action === 'change' || (force && action === 'refused')
  const differing = sync.data?.data.filter(({ action }) => action !== 'same') ?? []
  const taken = differing.filter(({ action }) => takes(action)).length
  const isApplied = sync.data?.applied === true
  return (
    <Page
      key="sync"
      title={words.syncTitle}
      actions={<Button onClick={() => change({ sync: undefined })}>{shared.close}</Button>}
    >
      <Card>
        <div className={classes.sync}>
          <Segments
            label={words.syncWhat}
            options={[
              { value: 'pricing', label: words.syncPricing },
              { value: 'metadata', label: words.syncMetadata },
            ]}
            value={kind}
            onChange={(next) => {
              setKind(next)
              sync.reset()
            }}
          />
          <TextInput
            label={words.list}
            value={url}
            placeholder="https://"
            onChange={(event) => setUrl(event.currentTarget.value)}
          />
          <Button look="primary" busy={sync.isPending} onClick={() => sync.mutate(false)}>
            {words.syncRead}
          </Button>
        </div>
        {sync.error && <Failure error={sync.error} />}
        {sync.data && differing.length === 0 && <Empty text={words.noDiff} />}
        {differing.length > 0 && (
          <>
            <Table
              caption={words.syncTitle}
              columns={columns}
              rows={differing}
              idOf={({ model, field }) => `${model} ${field}`}
            />
            {!isApplied && (
              <div className={classes.sync}>
                {differing.some(({ action }) => action === 'refused') && (
                  <Checkbox
                    label={words.force}
                    checked={force}
                    onChange={(event) => setForce(event.currentTarget.checked)}
                  />
                )}
                <Button look="primary" busy={sync.isPending} disabled={taken === 0} onClick={() => sync.mutate(true)}>
                  {words.apply(taken)}
                </Button>
              </div>
            )}
          </>
        )}
      </Card>
    </Page>
  )
}
