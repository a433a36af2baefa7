import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Card } from '../../parts/Card.tsx'
import { Columns } from '../../parts/Columns.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { SecretOnce } from '../../parts/SecretOnce.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { mayMakeKeys } from './api.ts'
import type { KeyWithText } from './api.ts'
import { useKeysPath, useShowKey } from './change.ts'
import { keyFields } from './fields.ts'
import { words } from './words.ts'

/** Makes a key, and shows its text once. */
export default function NewKey() {
  const isAdmin = useIsAdmin()
  const mayMake = useQuery({ ...mayMakeKeys, enabled: !isAdmin }).data
  const path = useKeysPath()
  const show = useShowKey()
  const navigate = useNavigate()
  const [made, setMade] = useState<KeyWithText>()
  const save = async (body: object) => {
    const answer = await ask<KeyWithText>('POST', path, { body })
    const { key: _text, ...record } = answer
    show(record)
    setMade(answer)
  }
  if (!isAdmin && mayMake !== true)
    return <Page title={words.add}>{mayMake === false && <Forbidden what={words.onlyAdminsMake} />}</Page>
  return (
    <Page title={words.add}>
      <Columns>
        <Card>
          <SchemaForm fields={keyFields(isAdmin)} values={{}} save={save} />
        </Card>
      </Columns>
      {made && (
        <SecretOnce
          title={words.newKey}
          label={words.key}
          secret={made.key}
          text={words.newKeyText(made.name)}
          onKept={() => void navigate({ to: `/keys/${encodeURIComponent(made.id)}`, replace: true })}
        />
      )}
    </Page>
  )
}
