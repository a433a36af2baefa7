import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { FormEvent } from 'react'
import { signIn } from '../api/account.ts'
import { Button } from './Button.tsx'
import { PasswordField } from './PasswordField.tsx'
import { Status } from './Status.tsx'
import { useAction } from './useAction.ts'
import { shared } from '../words.ts'
import classes from './SignInForm.module.css'

interface SignInFormProps {
  readonly username?: string
  /** May give when it is done: the form is busy until then. */
  readonly onDone: () => unknown
}

/** Asks for a name and a password, and signs in. */
export function SignInForm({ username: known = '', onDone }: SignInFormProps) {
  const [username, setUsername] = useState(known)
  const [password, setPassword] = useState('')
  const { busy, error, act } = useAction()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    act(() => signIn({ username, password }).then(onDone))
  }
  return (
    <form className={classes.form} onSubmit={submit}>
      {error && (
        <div role="alert">
          <Status state="bad">{error.message}</Status>
        </div>
      )}
      <TextInput
        label={shared.username}
        value={username}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus={known === ''}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <PasswordField
        label={shared.password}
        value={password}
        autoComplete="current-password"
        autoFocus={known !== ''}
        onChange={setPassword}
      />
      <Button type="submit" look="primary" busy={busy}>
        {shared.signIn}
      </Button>
    </form>
  )
}
