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

/** The words for how a server is, and for its tools; none as long as nothing is known. */
export const stateText = (known: Status | undefined): string => (known ? words.states[known.state] : '')
export function toolsText(known: Status | undefined): string {
  const changed = known?.changed_tools.length ?? 0
  if (changed > 0) return words.changedTools(changed)
  return known?.state === 'connected' ? words.asApproved : ''
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
  const text = toolsText(data)
  if (text === '') return words.none
  return <Shown state={data?.changed_tools.length === 0 ? 'good' : 'warning'}>{text}</Shown>
}

export function SessionsOf({ server }: { readonly server: McpServer }) {
  const { data } = useQuery(status(server.name))
  return data?.sessions
}
