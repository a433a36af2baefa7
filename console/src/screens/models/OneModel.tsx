import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import { testProvider } from '../../catalog/providers.ts'
import { TestResult } from '../../catalog/TestResult.tsx'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Values } from '../../form/Values.tsx'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Declared } from '../../parts/Declared.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { RecordTabs } from '../../parts/RecordTabs.tsx'
import { SwitchButton } from '../../parts/SwitchButton.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { toast, toastError } from '../../parts/toast.tsx'
import { shared } from '../../words.ts'
import { Abilities } from './Abilities.tsx'
import { changeModel, oneModel } from './api.ts'
import type { Model } from './api.ts'
import { useShowModel } from './change.ts'
import { DeleteModel } from './DeleteModel.tsx'
import { Facts } from './Facts.tsx'
import { changedFields, usual, valuesOf } from './fields.ts'
import { State } from './State.tsx'
import { Usage } from './Usage.tsx'
import { words } from './words.ts'
import classes from './models.module.css'

/** One model: its settings, the places that serve it, and what it was asked. */
export function OneModel({ name }: { readonly name: string }) {
  const query = useQuery(oneModel(name))
  const model = query.data
  const aside = model && (
    <>
      <State model={model} />
      <Abilities model={model} />
      {model.source === 'file' && <Tag>{words.inFile}</Tag>}
    </>
  )
  return (
    <Page title={name} aside={aside} actions={model && <Actions model={model} />}>
      <Loaded query={query} height={420}>
        {(record) => (
          <RecordTabs label={words.tabs(name)} settings={<Settings model={record} />} usage={<Usage model={name} />}>
            <Places model={record} />
            <Facts model={record} />
          </RecordTabs>
        )}
      </Loaded>
    </Page>
  )
}

function Settings({ model }: { readonly model: Model }) {
  const show = useShowModel()
  const queries = useQueryClient()
  const { declared_at: at, name } = model
  if (model.source === 'file')
    return (
      <Card>
        <Declared at={at ? `${at.file}:${at.line}` : null} />
        <Values fields={changedFields} values={valuesOf(model)} usual={usual} />
      </Card>
    )
  return (
    <Card>
      <SchemaForm
        fields={changedFields}
        values={valuesOf(model)}
        usual={usual}
        save={async (body) => {
          show(await changeModel(model, body))
          toast(shared.saved)
        }}
        reload={() => queries.invalidateQueries({ queryKey: oneModel(name).queryKey })}
      />
    </Card>
  )
}

function Actions({ model }: { readonly model: Model }) {
  const show = useShowModel()
  const [deletes, setDeletes] = useState(false)
  const { name, enabled } = model
  const turn = async (record: Model, on: boolean) => {
    const now = await changeModel(record, { enabled: on })
    show(now)
    return now
  }
  return (
    <>
      <TestModel model={model} />
      <ButtonLink to="/logs" search={{ model: name }} icon="logs">
        {words.logs}
      </ButtonLink>
      {model.source === 'database' && (
        <>
          <SwitchButton record={model} name={name} isOn={enabled} turn={turn} />
          <Button look="danger" icon="trash" onClick={() => setDeletes(true)}>
            {words.delete}
          </Button>
        </>
      )}
      {deletes && <DeleteModel model={model} onClose={() => setDeletes(false)} />}
    </>
  )
}

/** The places that serve a model, in their order. */
function Places({ model }: { readonly model: Model }) {
  const { provider, upstream_model: upstream, deployments, name } = model
  const own = provider === null ? [] : [{ provider, upstream_model: upstream, weight: 1 }]
  const places = [...own, ...deployments]
  return (
    <Card title={words.places} {...(places.length > 1 && { note: words.placesText })}>
      <ol className={classes.places}>
        {places.map((place) => (
          <li key={`${place.provider} ${place.upstream_model}`}>
            <Link to={`/providers/${encodeURIComponent(place.provider)}`}>{place.provider}</Link>
            <code>{place.upstream_model ?? name}</code>
            {places.length > 1 && <span className={classes.faint}>{`${words.share} ${place.weight ?? 1}`}</span>}
          </li>
        ))}
      </ol>
    </Card>
  )
}

/** Asks the model's provider for one short answer of it. */
function TestModel({ model: { name, provider, deployments } }: { readonly model: Model }) {
  const asked = provider ?? deployments[0]?.provider
  const test = useMutation({ mutationFn: (at: string) => testProvider(at, name), onError: toastError })
  if (asked === undefined) return null
  return (
    <>
      {test.data && <TestResult tested={test.data} />}
      <Button busy={test.isPending} onClick={() => test.mutate(asked)}>
        {words.tested}
      </Button>
    </>
  )
}
