import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { breakers, circuitOf, resetBreaker } from '../../api/attention.ts'
import type { Breaker } from '../../api/attention.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { Status } from '../../parts/Status.tsx'
import { toastError } from '../../parts/toast.tsx'
import { words } from './words.ts'
import classes from './configuration.module.css'

const states = { closed: 'good', open: 'warning', half_open: 'warning' } as const

/** The circuit of each provider and model, with a button that closes it. */
export function Circuits() {
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(breakers)
  const reset = useMutation({
    mutationFn: (breaker: Breaker) => resetBreaker(breaker),
    onError: toastError,
    onSettled: () => queries.invalidateQueries({ queryKey: breakers.queryKey }),
  })
  return (
    <Card title={words.circuits}>
      {error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton height={80} />
      ) : data.length === 0 ? (
        <Empty text={words.noCircuits} />
      ) : (
        <table className={classes.table}>
          <caption className="visually-hidden">{words.circuits}</caption>
          <thead>
            <tr>
              <th scope="col">{words.provider}</th>
              <th scope="col">{words.state}</th>
              <th scope="col">{words.failures}</th>
              <th scope="col">
                <span className="visually-hidden">{words.resetShort}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.map((breaker) => {
              const { state, failures } = breaker
              const name = circuitOf(breaker)
              return (
                <tr key={name}>
                  <td>{name}</td>
                  <td>
                    <Status state={states[state]}>{words.breaker[state]}</Status>
                  </td>
                  <td>{failures}</td>
                  <td>
                    {state !== 'closed' && (
                      <Button small aria-label={words.reset(name)} onClick={() => reset.mutate(breaker)}>
                        {words.resetShort}
                      </Button>
                    )}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
    </Card>
  )
}
