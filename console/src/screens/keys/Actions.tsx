import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { Button } from '../../parts/Button.tsx'
import { ConfirmName } from '../../parts/ConfirmName.tsx'
import { SwitchButton } from '../../parts/SwitchButton.tsx'
import { toast } from '../../parts/toast.tsx'
import { oneKey } from './api.ts'
import type { Key } from './api.ts'
import { useChangeKey, useKeysPath } from './change.ts'
import { Rotate } from './Rotate.tsx'
import { words } from './words.ts'

/** What can be done with a key: to disable it, to give it another text, and to delete it. */
export function Actions({ record }: { readonly record: Key }) {
  const [open, setOpen] = useState<'rotate' | 'delete'>()
  const change = useChangeKey()
  const close = () => setOpen(undefined)
  return (
    <>
      <SwitchButton
        record={record}
        name={record.name}
        isOn={!record.disabled}
        turn={(key, on) => change(key, { disabled: !on })}
      />
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
