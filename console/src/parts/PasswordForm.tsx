import { useState } from 'react'
import type { FormEvent, ReactNode } from 'react'
import { Refusal } from '../api/ask.ts'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { PasswordField } from './PasswordField.tsx'
import { Status } from './Status.tsx'
import { useAction } from './useAction.ts'
import classes from './SignInForm.module.css'

interface PasswordFormProps {
  /** Names the field of the new password. */
  readonly label: string
  /** What the API calls it, and the other field of the form. */
  readonly param: string
  readonly other: string
  /** The button that sends it. */
  readonly action: string
  readonly send: (password: string) => Promise<unknown>
  /** The other field, with what is wrong with it. */
  readonly children: (error: string | undefined) => ReactNode
}

/** A form whose last fields are a new password and its repetition. */
export function PasswordForm({ label, param, other, action, send, children }: PasswordFormProps) {
  const [password, setPassword] = useState('')
  const [repeated, setRepeated] = useState('')
  const [different, setDifferent] = useState(false)
  const { busy, error, act } = useAction()
  const at = (name: string) =>
    error instanceof Refusal ? error.findings.find((finding) => finding.param === name)?.message : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setDifferent(password !== repeated)
    if (password === repeated) act(() => send(password))
  }
  return (
    <form className={classes.form} onSubmit={submit}>
      {error && !at(param) && !at(other) && (
        <div role="alert">
          <Status state="bad">{error.message}</Status>
        </div>
      )}
      {children(at(other))}
      <PasswordField label={label} value={password} error={at(param)} onChange={setPassword} />
      <PasswordField
        label={shared.repeatPassword}
        value={repeated}
        error={different ? shared.differentPasswords : undefined}
        onChange={setRepeated}
      />
      <Button type="submit" look="primary" busy={busy}>
        {action}
      </Button>
    </form>
  )
}
