import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Button, ButtonLink } from '../parts/Button.tsx'
import { toast, toastError } from '../parts/toast.tsx'
import { useNow } from '../parts/useNow.ts'
import { breakers, notifications, resetBreaker } from '../api/attention.ts'
import type { Cause } from '../api/attention.ts'
import { AttentionLine } from './AttentionLine.tsx'
import { factOf } from './facts.ts'
import { words } from './words.ts'

/** A provider or a model that is left alone because it failed, with a way to its failures and one to end that. */
export function OpenCircuit({ cause: { subject: name, facts } }: { readonly cause: Cause }) {
  const text = (fact: string) => factOf(facts, fact)
  const provider = text('provider') ?? ''
  const retryAt = text('retry_at')
  const queries = useQueryClient()
  const reset = useMutation({
    mutationFn: () => resetBreaker({ provider, model: text('model') }),
    onSuccess: () => toast(words.wasReset(name)),
    onError: toastError,
    onSettled: () =>
      Promise.all([breakers, notifications].map(({ queryKey }) => queries.invalidateQueries({ queryKey }))),
  })
  return (
    <AttentionLine
      state="warning"
      title={text('state') === 'open' ? words.circuitOpen : words.circuitProbing}
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
      <code>{name}</code> {words.failedTimes(Number(facts['failures']), text('status') ?? text('error') ?? undefined)}{' '}
      {retryAt !== null && <NextProbe at={retryAt} />}
    </AttentionLine>
  )
}

/** It counts down, which is not to be read out each second. */
function NextProbe({ at }: { readonly at: string }) {
  return <span aria-live="off">{words.nextProbe(Math.ceil((Date.parse(at) - useNow()) / 1000))}</span>
}
