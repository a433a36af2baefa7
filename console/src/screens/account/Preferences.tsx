import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Switch } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keysAreOn, switchKeys } from '../../parts/letter-keys.ts'
import { Card } from '../../parts/Card.tsx'
import { toastError } from '../../parts/toast.tsx'
import { account, setTracing } from './api.ts'
import { words } from './words.ts'
import classes from './account.module.css'

/** What the user chose: tracing is kept by the gateway, keys by this browser. */
export function Preferences({ tracing }: { readonly tracing: boolean }) {
  const queries = useQueryClient()
  const [keys, setKeys] = useState(keysAreOn)
  const change = useMutation({
    mutationFn: setTracing,
    onError: toastError,
    onSettled: () => queries.invalidateQueries({ queryKey: account.queryKey }),
  })
  return (
    <Card title={words.preferences}>
      <div className={classes.stack}>
        <Switch
          label={words.tracing}
          description={words.tracingText}
          checked={change.isPending ? change.variables : tracing}
          onChange={(event) => change.mutate(event.currentTarget.checked)}
        />
        <Switch
          label={words.keys}
          description={words.keysText}
          checked={keys}
          onChange={(event) => {
            setKeys(event.currentTarget.checked)
            switchKeys(event.currentTarget.checked)
          }}
        />
      </div>
    </Card>
  )
}
