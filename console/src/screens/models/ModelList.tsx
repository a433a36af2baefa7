import { useState } from 'react'
import { useAddress } from '../../parts/search.ts'
import { Button } from '../../parts/Button.tsx'
import { Chosen } from '../../parts/Chosen.tsx'
import { valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField } from '../../parts/FilterBar.tsx'
import { Page } from '../../parts/Page.tsx'
import { RecordTable } from '../../parts/RecordTable.tsx'
import { ListTools } from '../../parts/ListTools.tsx'
import { useColumns } from '../../parts/useColumns.ts'
import { useListAddress } from '../../parts/useListAddress.ts'
import { useRecords } from '../../parts/useRecords.ts'
import { useNames } from '../../parts/useNames.ts'
import { modelList } from './api.ts'
import { useSwitchModels } from './change.ts'
import { columns as all } from './columns.tsx'
import { words } from './words.ts'

function useFilters(): readonly FilterField[] {
  const providers = useNames('provider')
  const { filters, sources, yesNo } = words
  return [
    { name: 'provider', label: filters.provider, values: providers, typed: true, leavable: true },
    { name: 'source', label: filters.source, values: valuesOf(sources) },
    { name: 'enabled', label: filters.enabled, values: valuesOf(yesNo) },
    { name: 'auto_eligible', label: filters.auto, values: valuesOf(yesNo) },
    { name: 'supports_mapeval', label: filters.mapeval, values: valuesOf(yesNo) },
  ]
}

/** What can be asked for, what it costs, and whether it is reachable. */
export function ModelList() {
  const fields = useFilters()
  const { query, isFiltered, order } = useListAddress(fields, ['name', 'provider', 'created_at'])
  const list = useRecords(modelList(query))
  const columns = useColumns('sluice-columns-models', all)
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const switchModels = useSwitchModels()
  const models = list.rows?.filter(({ name }) => chosen.has(name)) ?? []
  const [, change] = useAddress()
  const actions = (
    <>
      <Button icon="reload" onClick={() => change({ sync: '1' }, { push: true })}>
        {words.sync}
      </Button>
      <Button look="primary" icon="plus" onClick={() => change({ add: '1' }, { push: true })}>
        {words.add}
      </Button>
    </>
  )
  return (
    <Page title={words.title} actions={actions}>
      <ListTools
        fields={fields}
        search={words.search}
        columns={columns}
        rows={list.rows}
        file="models.csv"
        path="/api/config/models"
        query={query}
      />
      <RecordTable
        list={list}
        height={320}
        none={isFiltered ? words.emptyFiltered : words.empty}
        caption={words.title}
        columns={columns.shown}
        idOf={({ name }) => name}
        to={({ name }) => ({ to: `/models/${encodeURIComponent(name)}` })}
        order={order}
        choice={{
          chosen,
          choose,
          labelOf: ({ name, source }) => (source === 'file' ? undefined : words.boxOf(name)),
        }}
      >
        <Chosen
          rows={models}
          label={words.chosen(models.length)}
          isOn={({ enabled }) => enabled}
          turn={(on) => switchModels(models, on)}
          onDone={() => choose(new Set())}
        />
      </RecordTable>
    </Page>
  )
}
