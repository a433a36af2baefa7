import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { duration } from '../../format.ts'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { ConfirmName } from '../../parts/ConfirmName.tsx'
import { SwitchButton } from '../../parts/SwitchButton.tsx'
import { toast, toastError } from '../../parts/toast.tsx'
import { capabilities, change, probe, remove, server as one, status } from './api.ts'
import type { McpServer } from './api.ts'
import { words } from './words.ts'

/** What can be done with a server: try it, find its requests, turn it off and on, delete it. */
export function Actions({ server }: { readonly server: McpServer }) {
  const queries = useQueryClient()
  const [deletes, setDeletes] = useState(false)
  const { name, enabled, source } = server
  const check = useMutation({
    mutationFn: () => probe(name),
    onSuccess(found) {
      queries.setQueryData(status(name).queryKey, found)
      // A failure stands where the state is.
      if (found.state === 'connected') toast(words.checked(name, duration(found.latency_ms)))
      void queries.invalidateQueries({ queryKey: capabilities(name).queryKey })
    },
    onError: toastError,
  })
  const turn = async (record: McpServer, on: boolean) => {
    const now = await change(record, { enabled: on })
    queries.setQueryData(one(name).queryKey, now)
    void queries.invalidateQueries({ queryKey: ['mcp-servers', 'list'] })
    void queries.invalidateQueries({ queryKey: status(name).queryKey })
    void queries.invalidateQueries({ queryKey: capabilities(name).queryKey })
    return now
  }
  return (
    <>
      <Button icon="reload" busy={check.isPending} onClick={() => check.mutate()}>
        {words.check}
      </Button>
      <ButtonLink to="/logs" search={{ type: 'mcp' }} icon="logs">
        {words.logs}
      </ButtonLink>
      {source === 'database' && (
        <>
          <SwitchButton record={server} name={name} isOn={enabled} turn={turn} />
          <Button look="danger" icon="trash" onClick={() => setDeletes(true)}>
            {words.delete}
          </Button>
        </>
      )}
      {deletes && <Deleting server={server} onClose={() => setDeletes(false)} />}
    </>
  )
}

function Deleting({ server, onClose }: { readonly server: McpServer; readonly onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { name } = server
  const sessions = useQuery(status(name)).data?.sessions
  return (
    <ConfirmName
      title={words.deleteNamed(name)}
      name={name}
      action={words.deleteNamed(name)}
      onClose={onClose}
      onConfirm={async () => {
        await remove(server)
        await navigate({ to: '/mcp-servers', search: {} })
        queries.removeQueries({ queryKey: one(name).queryKey })
        await queries.invalidateQueries({ queryKey: ['mcp-servers'] })
        toast(words.deleted(name))
      }}
    >
      <p>{words.deleteWhat(sessions ?? 0)}</p>
    </ConfirmName>
  )
}
