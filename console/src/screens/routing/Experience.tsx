import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { count, duration, share } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { ConfirmName } from '../../parts/ConfirmName.tsx'
import { tiers } from '../../parts/decision.ts'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { toast } from '../../parts/toast.tsx'
import { useLive } from '../../parts/useLive.ts'
import { experience, forget, modes } from './api.ts'
import type { Learned } from './api.ts'
import { densityOf } from './density.ts'
import { words } from './words.ts'
import classes from './routing.module.css'

/** What is to be forgotten: a model, or with `null` all of them. */
type Forgetting = { readonly model: string | null } | undefined

/** What was learned of each model, in each mode and tier. */
export default function Experience() {
  const { interval } = useLive()
  const query = useQuery({ ...experience, refetchInterval: interval })
  const [forgetting, setForgetting] = useState<Forgetting>()
  return (
    <Card
      title={words.experience}
      note={words.experienceNote}
      actions={
        query.data !== undefined &&
        query.data.length > 0 && (
          <Button small look="danger" onClick={() => setForgetting({ model: null })}>
            {words.resetAll}
          </Button>
        )
      }
    >
      <Loaded query={query} height={240}>
        {(learned) =>
          learned.length === 0 ? (
            <Empty text={words.noExperience} />
          ) : (
            <Places learned={learned} onForget={(model) => setForgetting({ model })} />
          )
        }
      </Loaded>
      {forgetting && (
        <Forget learned={query.data ?? []} model={forgetting.model} onClose={() => setForgetting(undefined)} />
      )}
    </Card>
  )
}

interface PlacesProps {
  readonly learned: readonly Learned[]
  readonly onForget: (model: string) => void
}

function Places({ learned, onForget }: PlacesProps) {
  const models = [...Map.groupBy(learned, ({ model }) => model)]
  const { model, mode, ratings, reliability, firstByte, reset } = words
  return (
    <div className={classes.scroll} tabIndex={0} role="group" aria-label={words.experience}>
      <table className={`${classes.table} ${classes.places}`}>
        <caption className="visually-hidden">{words.experience}</caption>
        <thead>
          <tr>
            {[model, mode, ...tiers, ratings].map((label) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
            {[reliability, firstByte].map((label) => (
              <th key={label} scope="col" data-number>
                {label}
              </th>
            ))}
            <th scope="col">
              <span className="visually-hidden">{reset}</span>
            </th>
          </tr>
        </thead>
        {models.map(([name, places]) => (
          <OfModel key={name} model={name} places={places} onForget={onForget} />
        ))}
      </table>
    </div>
  )
}

interface OfModelProps {
  readonly model: string
  readonly places: readonly Learned[]
  readonly onForget: (model: string) => void
}

function OfModel({ model, places, onForget }: OfModelProps) {
  const used = modes.filter((mode) => places.some((one) => one.mode === mode))
  return (
    <tbody>
      {used.map((mode, index) => {
        const own = places.filter((one) => one.mode === mode)
        return (
          <tr key={mode}>
            {index === 0 && (
              <th scope="rowgroup" rowSpan={used.length}>
                {model}
              </th>
            )}
            <th scope="row">{mode}</th>
            {tiers.map((tier) => {
              const place = own.find((one) => one.tier === tier)
              return (
                <td key={tier}>
                  {place ? <Posterior learned={place} /> : <span className={classes.faint}>{words.untried}</span>}
                </td>
              )
            })}
            <Figures places={own} />
            {index === 0 && (
              <td rowSpan={used.length} data-number>
                <Button small aria-label={words.resetNamed(model)} onClick={() => onForget(model)}>
                  {words.reset}
                </Button>
              </td>
            )}
          </tr>
        )
      })}
    </tbody>
  )
}

/** What people said of a model in a mode, and how it works at present in the tier in which it was chosen most. */
function Figures({ places }: { readonly places: readonly Learned[] }) {
  const [most] = places.toSorted((one, other) => other.pulls - one.pulls)
  const sum = (signal: 'weak' | 'ok' | 'strong') => places.reduce((all, { feedback }) => all + feedback[signal], 0)
  return (
    <>
      <td>{words.ratingsOf(sum('weak'), sum('ok'), sum('strong'))}</td>
      <td data-number>{share(most?.reliability)}</td>
      <td data-number>{duration(most?.latency_ms.p50)}</td>
    </>
  )
}

interface ForgetProps {
  readonly learned: readonly Learned[]
  readonly model: string | null
  readonly onClose: () => void
}

function Forget({ learned, model, onClose }: ForgetProps) {
  const queries = useQueryClient()
  const name = model ?? words.all
  const places = learned.filter((one) => model === null || one.model === model).length
  return (
    <ConfirmName
      title={words.resetTitle(name)}
      name={name}
      action={words.resetAction(name)}
      onClose={onClose}
      onConfirm={async () => {
        const { reset } = await forget(model ?? undefined)
        await queries.invalidateQueries({ queryKey: experience.queryKey })
        toast(words.forgotten(reset))
        onClose()
      }}
    >
      <p>{words.resetWhat(places)}</p>
    </ConfirmName>
  )
}

const width = 96
const height = 24

/** What is believed of a model in a mode and tier: the density of how likely its answer is good enough. */
function Posterior({ learned }: { readonly learned: Learned }) {
  const { model, mode, tier, mean, strength, pulls, feedback } = learned
  const { heights, low, high } = densityOf(mean * strength, (1 - mean) * strength)
  const line = heights.map((one, index) => `${index} ${(height - one * (height - 2)).toFixed(1)}`)
  const within = line.slice(Math.round(low * width), Math.round(high * width) + 1)
  const said = words.density(mean.toFixed(2), low.toFixed(2), high.toFixed(2), count(pulls))
  return (
    <div
      className={classes.posterior}
      title={`${said}, ${words.ratingsOf(feedback.weak, feedback.ok, feedback.strong)}`}
    >
      <svg width={width} height={height} role="img" aria-label={words.densityOf(model, mode, tier, said)}>
        <path d={`M${low * width} ${height}L${within.join('L')}L${high * width} ${height}z`} className={classes.band} />
        <path d={`M${line.join('L')}`} className={classes.curve} />
        <path d={`M${mean * width} 0V${height}`} className={classes.tick} />
      </svg>
      <span>
        {mean.toFixed(2)} <span className={classes.faint}>{words.pulls(count(pulls))}</span>
      </span>
    </div>
  )
}
