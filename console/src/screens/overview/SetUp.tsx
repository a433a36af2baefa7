import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Answers } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Status } from '../../parts/Status.tsx'
import { shared } from '../../words.ts'
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

const steps = ['provider', 'models', 'key', 'answer'] as const
type Step = (typeof steps)[number]

/** Which steps of the set-up are done. The echo provider is built in: it counts as nobody's work. */
const stepsDone = queryOptions({
  queryKey: ['set-up', 'steps'],
  queryFn: async ({ signal }): Promise<ReadonlySet<Step>> => {
    const one = { limit: 1 }
    const [providers, models, keys, answers] = await Promise.all([
      ask<Answers['list-provider']>('GET', '/api/config/providers', { query: { limit: 200, state: 'on' }, signal }),
      ask<Answers['list-catalog']>('GET', '/api/catalog/models', { signal }),
      ask<Answers['list-api-key']>('GET', '/api/api-keys', { query: one, signal }),
      ask<Answers['list-requests']>('GET', '/api/logs', { query: { ...one, status: '2xx' }, signal }),
    ])
    const serving = new Set(providers.data.filter(({ type }) => type !== 'echo').map(({ name }) => name))
    const isDone: Readonly<Record<Step, boolean>> = {
      provider: serving.size > 0,
      models: models.data.some(
        ({ provider, virtual, available }) => available && !virtual && provider !== undefined && serving.has(provider),
      ),
      key: keys.data.length > 0,
      answer: answers.data.length > 0,
    }
    return new Set(steps.filter((step) => isDone[step]))
  },
})

/** Whether the reader has closed the card, or had nothing left to do; kept by the browser. */
const place = 'sluice-set-up-closed'
const isClosed = () => localStorage.getItem(place) !== null
const close = () => localStorage.setItem(place, '')
