import { useQuery } from '@tanstack/react-query'
import { Status as Shown } from '../../parts/Status.tsx'
import { status } from './api.ts'
import type { McpServer, Status } from './api.ts'
import { words } from './words.ts'

const looks = { connected: 'good', connecting: 'off', failed: 'bad', off: 'off' } as const

/** Whether sessions can be opened with a server, as far as is known. */
export function State({ state }: Pick<Status, 'state'>) {
  return <Shown state={looks[state]}>{words.states[state]}</Shown>
}

/** The state of a server of the list. */
export function StateOf({ server }: { readonly server: McpServer }) {
  const { data, error } = useQuery(status(server.name))
  if (data) return <State state={data.state} />
  return error ? error.message : null
}

/** Whether the tools of a server are those that were approved. */
export function ToolsOf({ server }: { readonly server: McpServer }) {
  const { data } = useQuery(status(server.name))
  const changed = data?.changed_tools.length ?? 0
  if (changed > 0) return <Shown state="warning">{words.changedTools(changed)}</Shown>
  return data?.state === 'connected' ? <Shown state="good">{words.asApproved}</Shown> : words.none
}

export function SessionsOf({ server }: { readonly server: McpServer }) {
  const { data } = useQuery(status(server.name))
  return data?.sessions
}
