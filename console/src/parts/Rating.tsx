import { useMutation } from '@tanstack/react-query'
import { ask, Refusal } from '../api/ask.ts'
import { Button } from './Button.tsx'
import { words } from './decision-words.ts'
import { Failure } from './Failure.tsx'
import classes from './Decision.module.css'

export type Signal = 'weak' | 'ok' | 'strong'

interface RatingProps {
  /** Id of the request. */
  readonly id: string
  /** How it is rated already. */
  readonly given?: Signal | null
}

const signals: readonly { readonly signal: Signal; readonly label: string }[] = [
  { signal: 'weak', label: words.tooWeak },
  { signal: 'ok', label: words.right },
  { signal: 'strong', label: words.tooStrong },
]

/** Whether the model was right for the request: a request has one rating, which cannot be taken back. */
export function Rating({ id, given = null }: RatingProps) {
  const { mutate, variables, error, isPending, isSuccess } = useMutation({
    mutationFn: (signal: Signal) => ask('POST', '/api/me/feedback', { body: { request_id: id, signal } }),
  })
  const isTaken = error instanceof Refusal && error.code === 'feedback_exists'
  const isOver = given !== null || isSuccess || isTaken
  const chosen = given ?? (error ? undefined : variables)
  return (
    <>
      <div className={classes.rating} role="group" aria-label={words.rating}>
        <span>{words.rating}</span>
        {signals.map(({ signal, label }) => (
          <Button
            key={signal}
            small
            {...(signal === chosen && { icon: 'check' as const })}
            aria-pressed={signal === chosen}
            aria-disabled={isOver || undefined}
            onClick={() => !isOver && !isPending && mutate(signal)}
          >
            {label}
          </Button>
        ))}
        <span role="status">{isSuccess && words.rated}</span>
      </div>
      {error && <Failure error={error} />}
    </>
  )
}
