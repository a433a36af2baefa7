import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Input.layer.css'
import { Checkbox, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { count, money } from '../format.ts'
import { Button } from '../parts/Button.tsx'
import { Empty } from '../parts/Empty.tsx'
import { Failure } from '../parts/Failure.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Status } from '../parts/Status.tsx'
import { Tag } from '../parts/Tag.tsx'
import { makeModel, upstreamModels } from './providers.ts'
import type { UpstreamModel } from './providers.ts'
import { words } from './words.ts'
import classes from './catalog.module.css'

interface AddModelsProps {
  readonly provider: string
  /** Ticked at first. */
  readonly suggested?: (models: readonly UpstreamModel[]) => readonly string[]
  readonly onDone?: (names: readonly string[]) => void
}

/** Most rows that are drawn at once. */
const most = 200

/** The list of models at a provider, with boxes, and what is known of their limits and prices. */
export function AddModels({ provider, suggested, onDone }: AddModelsProps) {
  const queries = useQueryClient()
  const { data: models, error, refetch } = useQuery(upstreamModels(provider))
  const [chosen, setChosen] = useState<ReadonlySet<string>>()
  const [find, setFind] = useState('')
  const [busy, setBusy] = useState(false)
  const [failures, setFailures] = useState<readonly string[]>([])
  const [added, setAdded] = useState(0)
  if (error && !models) return <Failure error={error} onRetry={() => void refetch()} />
  if (!models) return <Skeleton height={160} />
  if (models.length === 0) return <Empty text={words.noModels} />
  const ticked = chosen ?? new Set(suggested?.(models))
  const found = models.filter(({ id }) => id.toLowerCase().includes(find.toLowerCase()))
  const add = async () => {
    setBusy(true)
    const outcomes = await Promise.allSettled(
      [...ticked].map((id) =>
        makeModel(
          bodyOf(
            provider,
            models.find((model) => model.id === id),
            id,
          ),
        ),
      ),
    )
    const ids = [...ticked]
    const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.name] : []))
    setFailures(
      outcomes.flatMap((outcome, at) =>
        outcome.status === 'rejected' ? [words.addFailed(ids[at] ?? '', (outcome.reason as Error).message)] : [],
      ),
    )
    setAdded(made.length)
    setChosen(new Set())
    await queries.invalidateQueries({ queryKey: ['providers'] })
    await queries.invalidateQueries({ queryKey: ['models'] })
    setBusy(false)
    if (made.length === ids.length) onDone?.(made)
  }
  const tick = (id: string, on: boolean) =>
    setChosen(new Set(on ? [...ticked, id] : [...ticked].filter((one) => one !== id)))
  return (
    <div className={classes.stack}>
      {models.length > 12 && (
        <TextInput
          type="search"
          aria-label={words.filter}
          placeholder={words.filter}
          value={find}
          maw={320}
          onChange={(event) => setFind(event.currentTarget.value)}
        />
      )}
      {failures.map((failure) => (
        <div key={failure} role="alert">
          <Status state="bad">{failure}</Status>
        </div>
      ))}
      {added > 0 && (
        <div role="status">
          <Status state="good">{words.added(added)}</Status>
        </div>
      )}
      <div className={classes.scroll} tabIndex={0} role="group" aria-label={words.upstreamModels}>
        <table className={classes.table}>
          <caption className="visually-hidden">{words.upstreamModels}</caption>
          <thead>
            <tr>
              <th scope="col">{words.model}</th>
              <th scope="col" className={classes.number}>
                {words.context}
              </th>
              <th scope="col" className={classes.number}>
                {words.output}
              </th>
              <th scope="col" className={classes.number}>
                {words.price}
              </th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, most).map((model) => (
              <tr key={model.id}>
                <td>
                  <Checkbox
                    size="xs"
                    label={model.id}
                    checked={ticked.has(model.id)}
                    disabled={model.name !== null}
                    onChange={(event) => tick(model.id, event.currentTarget.checked)}
                  />
                  {model.name !== null && <Tag>{words.here(model.name)}</Tag>}
                </td>
                <td className={classes.number}>{count(model.known.context_length)}</td>
                <td className={classes.number}>{count(model.known.max_output_tokens)}</td>
                <td className={classes.number}>{pricesOf(model)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.length === 0 && <Empty text={words.none} />}
      {found.length > most && <p className={classes.hint}>{words.shown(most, found.length)}</p>}
      <div>
        <Button look="primary" icon="plus" busy={busy} disabled={ticked.size === 0} onClick={() => void add()}>
          {words.add(ticked.size)}
        </Button>
      </div>
    </div>
  )
}

function pricesOf({ known: { pricing } }: UpstreamModel): string {
  if (pricing?.['input'] === undefined && pricing?.['output'] === undefined) return '—'
  return `${money(pricing['input'])}, ${money(pricing['output'])}`
}

/** A model under the upstream's own name; a name of several parts keeps the last one. */
function bodyOf(provider: string, model: UpstreamModel | undefined, id: string): object {
  const name = id.startsWith('arn:') ? id.slice(id.lastIndexOf('/') + 1) : id
  return { name, provider, upstream_model: id, ...model?.known }
}
