import { useState } from 'react'
import { Confirm } from '../../parts/Confirm.tsx'
import { PasswordField } from '../../parts/PasswordField.tsx'
import { SecretOnce } from '../../parts/SecretOnce.tsx'
import { Segments } from '../../parts/Segments.tsx'
import { toast } from '../../parts/toast.tsx'
import { shared } from '../../words.ts'
import { resetPassword } from './api.ts'
import type { Member } from './api.ts'
import { useShowMember } from './useShowMember.ts'
import { words } from './words.ts'
import classes from './members.module.css'

interface ResetPasswordProps {
  readonly member: Member
  readonly onClose: () => void
}

/** Gives a member another password: one that is made and shown once, or one that is typed. */
export function ResetPassword({ member, onClose }: ResetPasswordProps) {
  const show = useShowMember()
  const [how, setHow] = useState<'made' | 'chosen'>('made')
  const [typed, setTyped] = useState('')
  const [made, setMade] = useState<string>()
  const [current, setCurrent] = useState('')
  const { username } = member
  const isAdmin = member.role === 'admin'
  const reset = async () => {
    const { temporary_password: password, ...now } = await resetPassword(member, {
      ...(how === 'chosen' && { password: typed }),
      ...(isAdmin && { current_password: current }),
    })
    show(now)
    if (password !== undefined) return setMade(password)
    toast(words.passwordWasReset(username))
    onClose()
  }
  if (made !== undefined)
    return (
      <SecretOnce
        title={words.newPassword}
        label={words.temporaryPassword}
        secret={made}
        text={words.newPasswordText(username)}
        onKept={onClose}
      />
    )
  return (
    <Confirm
      title={words.resetTitle(username)}
      action={words.resetPassword}
      look="danger"
      ready={(how === 'made' || typed !== '') && (!isAdmin || current !== '')}
      onConfirm={reset}
      onClose={onClose}
    >
      <div className={classes.stack}>
        <p className={classes.text}>{words.resetText}</p>
        <Segments
          label={words.passwordHow}
          options={[
            { value: 'made', label: words.passwordOf.made },
            { value: 'chosen', label: words.passwordOf.chosen },
          ]}
          value={how}
          onChange={setHow}
        />
        {how === 'chosen' && <PasswordField label={shared.password} value={typed} onChange={setTyped} />}
        {isAdmin && (
          <PasswordField
            label={words.yourPassword}
            value={current}
            autoComplete="current-password"
            onChange={setCurrent}
          />
        )}
      </div>
    </Confirm>
  )
}
