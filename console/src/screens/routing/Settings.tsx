import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Origin } from '../../form/Origin.tsx'
import { fieldsOf } from '../../form/schema.ts'
import type { Json } from '../../form/schema.ts'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Values } from '../../form/Values.tsx'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Declared } from '../../parts/Declared.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { saveSection, section } from './api.ts'
import type { Section } from './api.ts'
import { Preview } from './Preview.tsx'
import { Replay } from './Replay.tsx'
import classes from './routing.module.css'
import { words } from './words.ts'

type Body = { readonly [name: string]: Json }

/** The settings of smart routing, beside what they would do. */
export default function Settings() {
  const query = useQuery(section)
  const [body, setBody] = useState<Body>({})
  return (
    <div className={classes.halves}>
      <Card title={words.settings} note={words.settingsNote}>
        <Loaded query={query} height={640}>
          {(loaded) => <SectionForm section={loaded} onBody={setBody} />}
        </Loaded>
      </Card>
      <div className={`${classes.column} ${classes.beside}`}>
        <Preview settings={body} />
        <Replay settings={body} />
      </div>
    </div>
  )
}

interface SectionFormProps {
  readonly section: Section
  readonly onBody: (body: Body) => void
}

function SectionForm({ section: loaded, onBody }: SectionFormProps) {
  const queries = useQueryClient()
  const [trying, setTrying] = useState(false)
  const { schema, values, defaults, declared_at: declared, version } = loaded
  const fields = fieldsOf(schema)
  const save = async (changes: Body) => {
    const saved = await saveSection(changes, version)
    queries.setQueryData(section.queryKey, { ...loaded, ...saved, schema })
    await queries.invalidateQueries({ queryKey: section.queryKey })
  }
  const originAt = (path: string) => <Origin section={loaded} path={path} />
  const form = (
    <SchemaForm
      fields={fields}
      values={values}
      usual={defaults}
      asideOf={originAt}
      onBody={onBody}
      outlivesTabs
      reload={() => queries.refetchQueries({ queryKey: section.queryKey })}
      {...(!declared && { save, reviews: true })}
    />
  )
  if (!declared) return form
  return (
    <>
      <Declared at={`${declared.file}:${declared.line}`} />
      {trying ? (
        <>
          <p className={classes.faint}>{words.triedNote}</p>
          {form}
        </>
      ) : (
        <>
          <Button onClick={() => setTrying(true)}>{words.tryOthers}</Button>
          <Values fields={fields} values={values} usual={defaults} />
        </>
      )}
    </>
  )
}
