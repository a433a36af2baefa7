import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { FormEvent } from 'react'
import { setUp } from '../../api/account.ts'
import { Refusal } from '../../api/ask.ts'
import { setupToken } from '../../app/setup-token.ts'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { Door, doorForm } from '../../parts/Door.tsx'
import { PasswordField } from '../../parts/PasswordField.tsx'
import { Status } from '../../parts/Status.tsx'
import { shared } from '../../words.ts'
import { words } from './words.ts'

/** Makes the first account, with the token of the link that the gateway printed, and goes on to what comes next. */
export default function SetUp() {
  const navigate = useNavigate()
  if (setupToken === undefined)
    return (
      <Door title={words.title} text={words.noToken}>
        <ButtonLink className={doorForm} to="/sign-in">
          {shared.signIn}
        </ButtonLink>
      </Door>
    )
  return (
    <Door title={words.title} text={words.text}>
      <Account token={setupToken} onDone={() => void navigate({ to: '/setup/provider', search: {}, replace: true })} />
    </Door>
  )
}

function Account({ token, onDone }: { readonly token: string; readonly onDone: () => void }) {
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [repeated, setRepeated] = useState('')
  const [different, setDifferent] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const at = (param: string) =>
    error instanceof Refusal ? error.findings.find((finding) => finding.param === param)?.message : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setError(undefined)
    setDifferent(password !== repeated)
    if (password !== repeated) return
    setBusy(true)
    setUp(token, { username, password }).then(onDone, (refusal: Error) => {
      setError(refusal)
      setBusy(false)
    })
  }
  const elsewhere = error && !at('username') && !at('password')
  return (
    <form className={doorForm} onSubmit={submit}>
      {elsewhere && (
        <div role="alert">
          <Status state="bad">{error.message}</Status>
        </div>
      )}
      <TextInput
        label={shared.username}
        value={username}
        error={at('username')}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <PasswordField label={shared.password} value={password} error={at('password')} onChange={setPassword} />
      <PasswordField
        label={shared.repeatPassword}
        value={repeated}
        error={different ? shared.differentPasswords : undefined}
        onChange={setRepeated}
      />
      <Button type="submit" look="primary" busy={busy}>
        {words.create}
      </Button>
    </form>
  )
}
