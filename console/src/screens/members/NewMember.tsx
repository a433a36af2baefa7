import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import type { Json } from '../../form/schema.ts'
import { Card } from '../../parts/Card.tsx'
import { Columns } from '../../parts/Columns.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { SecretOnce } from '../../parts/SecretOnce.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { addMember } from './api.ts'
import { fieldsFor } from './fields.ts'
import { useShowMember } from './useShowMember.ts'
import { words } from './words.ts'

/** Adds a member. A password that was made is shown once. */
export default function NewMember() {
  const isAdmin = useIsAdmin()
  const navigate = useNavigate()
  const show = useShowMember()
  const [made, setMade] = useState<{ readonly id: string; readonly username: string; readonly password: string }>()
  const [body, setBody] = useState<{ readonly [name: string]: Json }>({})
  const open = (id: string) => void navigate({ to: `/members/${id}`, replace: true })
  const save = async (sent: object) => {
    const { temporary_password: password, ...member } = await addMember(sent)
    show(member)
    if (password === undefined) open(member.id)
    else setMade({ id: member.id, username: member.username, password })
  }
  return (
    <Page title={words.add}>
      {isAdmin ? (
        <Columns>
          <Card>
            <SchemaForm fields={fieldsFor('added', body)} values={{}} save={save} onBody={setBody} />
          </Card>
        </Columns>
      ) : (
        <Forbidden what={words.forbidden} />
      )}
      {made && (
        <SecretOnce
          title={words.newPassword}
          label={words.temporaryPassword}
          secret={made.password}
          text={words.newPasswordText(made.username)}
          onKept={() => open(made.id)}
        />
      )}
    </Page>
  )
}
