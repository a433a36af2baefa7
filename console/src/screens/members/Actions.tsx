import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Confirm } from '../../parts/Confirm.tsx'
import { ConfirmName } from '../../parts/ConfirmName.tsx'
import { toast, toastError } from '../../parts/toast.tsx'
import { useUser } from '../../parts/useUser.ts'
import { changeMember, deleteMember, oneMember } from './api.ts'
import type { Member } from './api.ts'
import { ResetPassword } from './ResetPassword.tsx'
import { useShowMember } from './useShowMember.ts'
import { shared } from '../../words.ts'
import { words } from './words.ts'

interface ActionProps {
  readonly member: Member
  readonly onClose: () => void
}

/** What can be done with a member: to keep him out, to give him another password, and to delete him. */
export function Actions({ member }: { readonly member: Member }) {
  const [open, setOpen] = useState<'switch' | 'password' | 'delete'>()
  const isSelf = useUser()?.id === member.id
  const props = { member, onClose: () => setOpen(undefined) }
  return (
    <>
      <Button onClick={() => setOpen('switch')}>{member.disabled ? shared.enable : shared.disable}</Button>
      {!isSelf && (
        <Button icon="lock" onClick={() => setOpen('password')}>
          {words.resetPassword}
        </Button>
      )}
      <Button look="danger" icon="trash" onClick={() => setOpen('delete')}>
        {words.delete}
      </Button>
      {open === 'switch' && <Switch {...props} />}
      {open === 'password' && <ResetPassword {...props} />}
      {open === 'delete' && <Delete {...props} />}
    </>
  )
}

/** Disabling ends sessions and stops keys, so it is asked for; it can be taken back. */
function Switch({ member, onClose }: ActionProps) {
  const show = useShowMember()
  const { username, keys, disabled } = member
  const apply = async (from: Member, to: boolean) => {
    const now = await changeMember(from, { disabled: to })
    show(now)
    return now
  }
  const confirm = async () => {
    const now = await apply(member, !disabled)
    onClose()
    toast(disabled ? shared.enabledNamed(username) : shared.disabledNamed(username), () => {
      apply(now, disabled).catch(toastError)
    })
  }
  return (
    <Confirm
      title={disabled ? words.enableTitle(username) : words.disableTitle(username)}
      action={disabled ? words.enableNamed(username) : words.disableNamed(username)}
      look={disabled ? 'primary' : 'danger'}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{disabled ? words.enableText : words.disableText(keys)}</p>
    </Confirm>
  )
}

function Delete({ member, onClose }: ActionProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { id, username, keys } = member
  const remove = async () => {
    await deleteMember(member)
    await navigate({ to: '/members' })
    queries.removeQueries({ queryKey: oneMember(id).queryKey })
    for (const key of [['members'], ['names', 'member'], ['keys']]) void queries.invalidateQueries({ queryKey: key })
    toast(words.wasDeleted(username))
  }
  return (
    <ConfirmName
      title={words.deleteTitle(username)}
      name={username}
      action={words.deleteNamed(username)}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{words.deleteText(keys)}</p>
    </ConfirmName>
  )
}
