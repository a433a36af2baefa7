import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { Button } from '../../parts/Button.tsx'
import { ConfirmName } from '../../parts/ConfirmName.tsx'
import { toast } from '../../parts/toast.tsx'
import { oneKey } from './api.ts'
import type { Key } from './api.ts'
import { useKeysPath, useSwitchKeys } from './change.ts'
import { Rotate } from './Rotate.tsx'
import { shared } from '../../words.ts'
import { words } from './words.ts'

interface ActionsProps {
  readonly record: Key
  /** Told of a refusal, and before another attempt that there is none. */
  readonly onError: (error: Error | undefined) => void
}

/** What can be done with a key: to disable it, to give it another text, and to delete it. */
export function Actions({ record, onError }: ActionsProps) {
  const [open, setOpen] = useState<'rotate' | 'delete'>()
  const switchKeys = useSwitchKeys()
  const close = () => setOpen(undefined)
  const change = () => {
    onError(undefined)
    switchKeys([record], !record.disabled).catch(onError)
  }
  return (
    <>
      <Button onClick={change}>{record.disabled ? shared.enable : shared.disable}</Button>
      <Button icon="reload" onClick={() => setOpen('rotate')}>
        {words.rotate}
      </Button>
      <Button look="danger" icon="trash" onClick={() => setOpen('delete')}>
        {words.delete}
      </Button>
      {open === 'rotate' && <Rotate record={record} onClose={close} />}
      {open === 'delete' && <Delete record={record} onClose={close} />}
    </>
  )
}

function Delete({ record, onClose }: { readonly record: Key; readonly onClose: () => void }) {
  const path = useKeysPath()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { id, name, version } = record
  const remove = async () => {
    await ask('DELETE', `${path}/${encodeURIComponent(id)}`, { ifMatch: version })
    await navigate({ to: '/keys' })
    queries.removeQueries({ queryKey: oneKey(id).queryKey })
    void queries.invalidateQueries({ queryKey: ['keys', 'list'] })
    toast(words.wasDeleted(name))
  }
  return (
    <ConfirmName
      title={words.deleteTitle(name)}
      name={name}
      action={words.deleteNamed(name)}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{words.deleteText}</p>
    </ConfirmName>
  )
}
