import type { Provider } from '../../catalog/providers.ts'
import { Status } from '../../parts/Status.tsx'
import { words } from './words.ts'

const looks = { on: 'good', off: 'off', error: 'bad' } as const

/** Whether a provider can be asked, and why not. */
export function State({ provider: { status } }: { readonly provider: Provider }) {
  return <Status state={looks[status.state]}>{status.reason ?? words.states[status.state]}</Status>
}
