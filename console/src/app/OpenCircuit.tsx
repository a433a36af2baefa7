import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Button, ButtonLink } from '../parts/Button.tsx'
import { toast, toastError } from '../parts/toast.tsx'
import { useNow } from '../parts/useNow.ts'
import { breakers, circuitOf, resetBreaker } from '../api/attention.ts'
import type { Breaker } from '../api/attention.ts'
import { AttentionLine } from './AttentionLine.tsx'
import { words } from './words.ts'

/** A provider or a model that is left alone because it failed, with a way to its failures and one to end that. */
export function OpenCircuit(breaker: Breaker) {
  const { provider, state, failures, retry_at: retryAt, last_error: last } = breaker
  const queries = useQueryClient()
  const name = circuitOf(breaker)
  const reset = useMutation({
    mutationFn: () => resetBreaker(breaker),
    onSuccess: () => toast(words.wasReset(name)),
    onError: toastError,
    onSettled: () => queries.invalidateQueries({ queryKey: breakers.queryKey }),
  })
  return (
    <AttentionLine
      state="warning"
      title={state === 'open' ? words.circuitOpen : words.circuitProbing}
      actions={
        <>
          <ButtonLink small to="/logs" search={{ failed_provider: provider, range: '1h' }}>
            {words.showFailures}
          </ButtonLink>
          <Button small busy={reset.isPending} onClick={() => reset.mutate()}>
            {words.reset}
          </Button>
        </>
      }
    >
      <code>{name}</code> {words.failedTimes(failures, last?.status ?? last?.code)}{' '}
      {retryAt !== null && <NextProbe at={retryAt} />}
    </AttentionLine>
  )
}

/** It counts down, which is not to be read out each second. */
function NextProbe({ at }: { readonly at: string }) {
  return <span aria-live="off">{words.nextProbe(Math.ceil((Date.parse(at) - useNow()) / 1000))}</span>
}
