import { useState } from 'react'
import { useAddress } from '../../parts/search.ts'
import { Button } from '../../parts/Button.tsx'
import { Chosen } from '../../parts/Chosen.tsx'
import { valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField } from '../../parts/FilterBar.tsx'
import { ListPage } from '../../parts/ListPage.tsx'
import { useNames } from '../../parts/useNames.ts'
import { modelList } from './api.ts'
import { useSwitchModels } from './change.ts'
import { columns } from './columns.tsx'
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
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const switchModels = useSwitchModels()
  const [, change] = useAddress()
  return (
    <ListPage
      name="models"
      words={words}
      actions={
        <>
          <Button icon="reload" onClick={() => change({ sync: '1' }, { push: true })}>
            {words.sync}
          </Button>
          <Button look="primary" icon="plus" onClick={() => change({ add: '1' }, { push: true })}>
            {words.add}
          </Button>
        </>
      }
      fields={useFilters()}
      sorts={['name', 'provider', 'created_at']}
      list={modelList}
      columns={columns}
      idOf={({ name }) => name}
      to={({ name }) => ({ to: `/models/${encodeURIComponent(name)}` })}
      choice={{
        chosen,
        choose,
        labelOf: ({ name, source }) => (source === 'file' ? undefined : words.boxOf(name)),
      }}
    >
      {(rows) => {
        const models = rows.filter(({ name }) => chosen.has(name))
        return (
          <Chosen
            rows={models}
            label={words.chosen(models.length)}
            isOn={({ enabled }) => enabled}
            turn={(on) => switchModels(models, on)}
            onDone={() => choose(new Set())}
          />
        )
      }}
    </ListPage>
  )
}
