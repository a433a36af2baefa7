import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { notifications } from '../../api/attention.ts'
import { Origin } from '../../form/Origin.tsx'
import { focusField } from '../../form/Problems.tsx'
import { fieldsOf } from '../../form/schema.ts'
import type { Field } from '../../form/schema.ts'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Values } from '../../form/Values.tsx'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Confirm } from '../../parts/Confirm.tsx'
import { Declared } from '../../parts/Declared.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Status } from '../../parts/Status.tsx'
import { toast } from '../../parts/toast.tsx'
import { resetSection, saveSection, section as one } from './api.ts'
import type { Section } from './api.ts'
import { Targets } from './Targets.tsx'
import { nameOf, words } from './words.ts'
import classes from './settings.module.css'

interface OneSectionProps {
  readonly name: string
  /** The path of the setting that was looked for. */
  readonly field: string | undefined
}

/** One section: its form, or its values where the file declares them. */
export function OneSection({ name, field }: OneSectionProps) {
  const query = useQuery(one(name))
  const note = query.data?.schema.description
  return (
    <Card
      title={nameOf(name)}
      {...(note !== undefined && { note })}
      actions={query.data?.source === 'database' && <Reset section={query.data} />}
    >
      <Loaded query={query} height={420}>
        {(loaded) => (
          <>
            {name === 'notifications' && <Targets />}
            <Fields section={loaded} wanted={field} />
          </>
        )}
      </Loaded>
    </Card>
  )
}

function Fields({ section, wanted }: { readonly section: Section; readonly wanted: string | undefined }) {
  const queries = useQueryClient()
  const { schema, values, defaults, source, declared_at: at, problem, secrets = {} } = section
  const { queryKey } = one(section.section)
  const fields = fixed(fieldsOf(schema), section.overridden)
  useEffect(() => {
    if (wanted !== undefined) focusField(wanted)
  }, [wanted])
  const originAt = (path: string) => <Origin section={section} path={path} />
  return (
    <>
      {problem !== null && (
        <p role="alert" className={classes.problem}>
          <Status state="bad">{words.problem(problem)}</Status>
        </p>
      )}
      {source === 'file' ? (
        <>
          <Declared at={at ? `${at.file}:${at.line}` : null} />
          <Values fields={fields} values={values} usual={defaults} secrets={secrets} />
        </>
      ) : (
        <SchemaForm
          fields={fields}
          values={values}
          usual={defaults}
          secrets={secrets}
          reviews
          asideOf={originAt}
          wanted={wanted}
          save={async (body) => {
            queries.setQueryData(queryKey, { ...(await saveSection(section, body)), schema })
            await queries.invalidateQueries({ queryKey: ['settings'] })
            await queries.invalidateQueries({ queryKey: notifications.queryKey })
            toast(words.saved)
          }}
          reload={() => queries.refetchQueries({ queryKey })}
        />
      )}
    </>
  )
}

/** The fields, those read-only that something outside of the section decides. */
const fixed = (fields: readonly Field[], overridden: Section['overridden']): readonly Field[] =>
  fields.map((field) => ({
    ...field,
    readOnly: field.readOnly || field.path in overridden,
    fields: fixed(field.fields, overridden),
  }))

function Reset({ section }: { readonly section: Section }) {
  const queries = useQueryClient()
  const [asks, setAsks] = useState(false)
  const name = nameOf(section.section)
  const reset = async () => {
    await resetSection(section)
    await queries.invalidateQueries({ queryKey: ['settings'] })
    setAsks(false)
    toast(words.resetDone(name))
  }
  return (
    <>
      <Button small onClick={() => setAsks(true)}>
        {words.reset}
      </Button>
      {asks && (
        <Confirm
          title={words.resetTitle(name)}
          action={words.reset}
          look="danger"
          onConfirm={reset}
          onClose={() => setAsks(false)}
        >
          <p>{words.resetText}</p>
        </Confirm>
      )}
    </>
  )
}
