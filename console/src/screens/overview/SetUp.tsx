import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Status } from '../../parts/Status.tsx'
import { shared } from '../../words.ts'
import { close, isClosed, steps, stepsDone } from './set-up.ts'
import type { Step } from './set-up.ts'
import { words } from './words.ts'
import classes from './overview.module.css'

const none: ReadonlySet<Step> = new Set()
const pathOf = (step: Step) => (step === 'answer' ? '/playground' : `/setup/${step}`)

/** What of the set-up is left, until all of it is done or the reader closes it. It only helps: without an answer it stays away. */
export function SetUp() {
  const [closed, setClosed] = useState(isClosed)
  const { data: known, isPending } = useQuery({ ...stepsDone, enabled: !closed })
  const done = known ?? none
  const finished = done.size === steps.length
  useEffect(() => {
    if (finished) close()
  }, [finished])
  if (closed || finished || (!known && !isPending)) return null
  return (
    <Card
      // What is below must not move when the answer comes.
      className={isPending ? classes.awaited : undefined}
      title={words.setUp}
      note={words.setUpDone(done.size, steps.length)}
      actions={
        <Button
          look="quiet"
          small
          icon="close"
          aria-label={words.setUpClose}
          title={words.setUpClose}
          onClick={() => {
            close()
            setClosed(true)
          }}
        />
      }
    >
      <ol className={classes.steps}>
        {steps.map((step) => (
          <li key={step}>
            <Status state={done.has(step) ? 'good' : 'off'}>
              {done.has(step) ? (
                shared.setUpSteps[step]
              ) : (
                <Link to={pathOf(step)} search={{}}>
                  {shared.setUpSteps[step]}
                </Link>
              )}
              <span className="visually-hidden">{done.has(step) ? words.stepDone : words.stepOpen}</span>
            </Status>
          </li>
        ))}
      </ol>
    </Card>
  )
}
