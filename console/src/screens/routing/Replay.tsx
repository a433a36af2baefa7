import { useMutation } from '@tanstack/react-query'
import { count, money, shortId } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Money } from '../../parts/Money.tsx'
import { Table } from '../../parts/Table.tsx'
import type { Column } from '../../parts/Table.tsx'
import { useRange } from '../../parts/useRange.ts'
import { latest, replay } from './api.ts'
import type { Replay as Result, Replayed } from './api.ts'
import classes from './routing.module.css'
import { words } from './words.ts'

/** What other settings would have decided of the latest requests, those first that would go elsewhere. */
export function Replay({ settings }: { readonly settings: object }) {
  const range = useRange()
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => replay(settings, range.bounds().since),
  })
  return (
    <Card
      title={words.replay}
      note={words.replayNote}
      actions={
        <Button busy={isPending} onClick={() => mutate()}>
          {words.replayButton(latest)}
        </Button>
      }
    >
      {error && <Failure error={error} />}
      {data && (data.rows === 0 ? <Empty text={words.noRows} /> : <Differences result={data} />)}
    </Card>
  )
}

function Differences({ result: { rows, changed, cost_change: change, data } }: { readonly result: Result }) {
  const was = data.reduce((sum, one) => sum + (one.was.cost_estimate ?? 0), 0)
  const isChanged = (one: Replayed) => one.was.model !== one.would.model || one.was.tier !== one.would.tier
  const sorted = [...data.filter(isChanged), ...data.filter((one) => !isChanged(one))]
  return (
    <>
      <p className={classes.finding} role="status">
        <b>{words.elsewhere(count(changed), count(rows))}</b>{' '}
        <span>{words.costs(money(was), money(was + change))}</span>
      </p>
      <Table
        caption={words.replay}
        columns={columns}
        rows={sorted}
        idOf={({ request_id: id }) => id}
        to={({ request_id: id }) => ({ to: `/logs/${id}` })}
      />
    </>
  )
}

const textOf = ({ model, tier }: { readonly model: string | null; readonly tier: string | null }) =>
  `${model ?? words.nothing} ${tier ?? ''}`

const difference = ({ was, would }: Replayed) =>
  was.cost_estimate === null || would.cost_estimate === null ? null : would.cost_estimate - was.cost_estimate

const columns: readonly Column<Replayed>[] = [
  {
    name: 'request',
    label: words.request,
    cell: (one) => <code>{shortId(one.request_id)}</code>,
    text: (one) => one.request_id,
  },
  { name: 'was', label: words.was, cell: ({ was }) => textOf(was), text: ({ was }) => textOf(was) },
  {
    name: 'would',
    label: words.would,
    cell: ({ was, would }) => (textOf(was) === textOf(would) ? textOf(would) : <b>{textOf(would)}</b>),
    text: ({ would }) => textOf(would),
  },
  {
    name: 'difference',
    label: words.difference,
    cell: (one) => <Money usd={difference(one)} />,
    text: difference,
    number: true,
  },
  {
    name: 'because',
    label: words.because,
    cell: ({ would }) => words.reasons[would.because] ?? would.because,
    text: ({ would }) => would.because,
  },
]
