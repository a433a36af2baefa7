import { useState } from 'react'
import { changePassword } from '../api/account.ts'
import { shared } from '../words.ts'
import { PasswordField } from './PasswordField.tsx'
import { PasswordForm } from './PasswordForm.tsx'

/** Changes the password of the user. All other sessions of theirs end. */
export function ChangePassword({ onDone }: { readonly onDone: () => unknown }) {
  const [current, setCurrent] = useState('')
  return (
    <PasswordForm
      label={shared.newPassword}
      param="new_password"
      other="current_password"
      action={shared.savePassword}
      send={(next) => changePassword(current, next).then(onDone)}
    >
      {(error) => (
        <PasswordField
          label={shared.currentPassword}
          value={current}
          error={error}
          autoComplete="current-password"
          onChange={setCurrent}
        />
      )}
    </PasswordForm>
  )
}
