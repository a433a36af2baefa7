import { useState } from 'react'
import type { FormEvent } from 'react'
import { changePassword } from '../api/account.ts'
import { Refusal } from '../api/ask.ts'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { PasswordField } from './PasswordField.tsx'
import { Status } from './Status.tsx'
import classes from './SignInForm.module.css'

/** Changes the password of the user. All other sessions of theirs end. */
export function ChangePassword({ onDone }: { readonly onDone: () => void }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
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
    setDifferent(next !== repeated)
    if (next !== repeated) return
    setBusy(true)
    changePassword(current, next).then(onDone, (refusal: Error) => {
      setError(refusal)
      setBusy(false)
    })
  }
  return (
    <form className={classes.form} onSubmit={submit}>
      {error && !at('current_password') && !at('new_password') && (
        <div role="alert">
          <Status state="bad">{error.message}</Status>
        </div>
      )}
      <PasswordField
        label={shared.currentPassword}
        value={current}
        error={at('current_password')}
        autoComplete="current-password"
        onChange={setCurrent}
      />
      <PasswordField label={shared.newPassword} value={next} error={at('new_password')} onChange={setNext} />
      <PasswordField
        label={shared.repeatPassword}
        value={repeated}
        error={different ? shared.differentPasswords : undefined}
        onChange={setRepeated}
      />
      <Button type="submit" look="primary" busy={busy}>
        {shared.savePassword}
      </Button>
    </form>
  )
}
