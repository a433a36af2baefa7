import { GatewayError } from '../../engine/index.ts'
import type { OpenProvider, Scope } from '../../engine/index.ts'

/** Maximum milliseconds for the model list of a provider. */
const deadline = 10_000

/** Whether a provider that is on has a list of its models. */
export function hasList(open: OpenProvider | undefined): boolean {
  return open?.provider.models !== undefined
}

/** The model list of a provider. Rejects with the errors of its call, and with `upstream_timeout` after 10 seconds. */
export async function upstreamList(open: OpenProvider, scope: Pick<Scope, 'onAbort'>): Promise<readonly string[]> {
  const ending = new AbortController()
  const late = () => ending.abort(new GatewayError('upstream_timeout', { model: 'the model list' }))
  const timer = setTimeout(late, deadline)
  const forget = scope.onAbort((reason) => ending.abort(reason))
  try {
    return (await open.provider.models?.(ending.signal)) ?? []
  } finally {
    clearTimeout(timer)
    forget()
  }
}
