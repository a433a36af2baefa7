import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { notifications } from '../../api/attention.ts'
import type { Target } from '../../api/attention.ts'
import { Button } from '../../parts/Button.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { Status } from '../../parts/Status.tsx'
import { toast, toastError } from '../../parts/toast.tsx'
import { sendTest } from './api.ts'
import { words } from './words.ts'
import classes from './settings.module.css'

/** Who is told when something is wrong: whether they are reached, and a way to try. */
export function Targets() {
  const query = useQuery(notifications)
  return (
    <Loaded query={query} height={60}>
      {({ targets }) =>
        targets.length === 0 ? (
          <p>{words.noTargets}</p>
        ) : (
          <ul className={classes.targets} aria-label={words.targets}>
            {targets.map((target) => (
              <OneTarget key={target.name} target={target} />
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

function OneTarget({
  target: { name, address, failing_since: failing, tried_at: tried, problem },
}: {
  readonly target: Target
}) {
  const queries = useQueryClient()
  const test = useMutation({
    mutationFn: () => sendTest(name),
    onSuccess: ({ delivered, problem: why }) =>
      delivered ? toast(words.testDelivered(name)) : toastError(new Error(words.testFailed(name, why))),
    onError: toastError,
    onSettled: () => queries.invalidateQueries({ queryKey: notifications.queryKey }),
  })
  return (
    <li>
      <Status state={failing !== null ? 'bad' : tried === null ? 'off' : 'good'}>{name}</Status>
      <span>{address}</span>
      <span>
        {failing === null ? (tried === null ? words.neverTried : words.reached) : words.notReached(problem)}{' '}
        {tried !== null && <Moment at={tried} />}
      </span>
      <Button small busy={test.isPending} onClick={() => test.mutate()}>
        {words.sendTest} <span className="visually-hidden">{words.toTarget(name)}</span>
      </Button>
    </li>
  )
}
