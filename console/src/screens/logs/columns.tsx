import { count, duration } from '../../format.ts'
import { asked } from '../../parts/CellMenu.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { Money } from '../../parts/Money.tsx'
import { Status } from '../../parts/Status.tsx'
import type { Column } from '../../parts/Table.tsx'
import { Tag } from '../../parts/Tag.tsx'
import type { Row } from './row.ts'
import { states } from './states.ts'
import { words } from './words.ts'
import classes from './logs.module.css'

/** Rows that a slow reader missed; it stands where they would. */
export interface Gap {
  readonly id: string
  readonly at: string
  readonly dropped: number
}

export type Entry = Row | Gap

export const isGap = (entry: Entry): entry is Gap => 'dropped' in entry

const served = ({ requested, model }: Row): string =>
  requested !== null && model !== null && requested !== model
    ? words.routed(requested, model)
    : (model ?? requested ?? '')

function of(column: Omit<Column<Row>, 'label'> & { readonly name: keyof typeof words.columns }): Column<Entry> {
  return { ...column, label: words.columns[column.name] } as Column<Entry>
}

/** The columns of the log. A gap has none of its own. */
export const columns: readonly Column<Entry>[] = [
  of({ name: 'time', cell: ({ at }) => <Moment at={at} exact />, text: ({ at }) => at }),
  of({
    name: 'what',
    cell: ({ type, stream }) => (
      <span className={classes.what}>
        {type}
        {stream && <Tag>{words.stream}</Tag>}
      </span>
    ),
    text: ({ type }) => type,
    filter: ({ type }) => asked('type', type),
  }),
  of({
    name: 'model',
    cell: served,
    text: served,
    filter: ({ model, requested }) => asked('model', model) ?? asked('requested', requested),
  }),
  of({
    name: 'provider',
    cell: ({ provider }) => provider,
    text: ({ provider }) => provider,
    filter: ({ provider }) => asked('provider', provider),
    spare: true,
  }),
  of({
    name: 'status',
    cell: ({ status, result }) => <Status state={states[result]}>{status}</Status>,
    text: ({ status, result }) => `${status} ${words.results[result]}`,
    filter: ({ status }) => asked('status', String(status)),
  }),
  of({
    name: 'key',
    cell: ({ key }) => key?.name,
    text: ({ key }) => key?.name ?? null,
    filter: ({ key }) => asked('key', key?.id, key?.name),
  }),
  of({
    name: 'member',
    cell: ({ member }) => member?.username,
    text: ({ member }) => member?.username ?? null,
    filter: ({ member }) => asked('member', member?.id, member?.username),
    spare: true,
  }),
  of({
    name: 'error',
    cell: ({ error }) => error,
    text: ({ error }) => error,
    filter: ({ error }) => asked('error', error),
    spare: true,
  }),
  of({ name: 'tries', cell: ({ attempts }) => attempts, text: ({ attempts }) => attempts, number: true, spare: true }),
  of({
    name: 'guarded',
    cell: ({ guarded }) => guarded && words.guarded[guarded],
    text: ({ guarded }) => guarded,
    filter: ({ guarded }) => asked('guarded', guarded, guarded && words.guarded[guarded]),
    spare: true,
  }),
  of({ name: 'reference', cell: ({ reference }) => reference, text: ({ reference }) => reference, spare: true }),
  of({
    name: 'trace',
    cell: ({ trace_id: trace }) => trace,
    text: ({ trace_id: trace }) => trace,
    filter: ({ trace_id: trace }) => asked('trace_id', trace),
    spare: true,
  }),
  of({
    name: 'tokens',
    cell: ({ usage }) => count(usage?.total),
    text: ({ usage }) => usage?.total ?? null,
    number: true,
  }),
  of({
    name: 'firstByte',
    cell: ({ first_byte_ms: took }) => duration(took),
    text: ({ first_byte_ms: took }) => took,
    number: true,
  }),
  of({
    name: 'took',
    cell: ({ duration_ms: took }) => duration(took),
    text: ({ duration_ms: took }) => took,
    number: true,
  }),
  of({
    name: 'cost',
    cell: ({ cost, usage }) => (cost === null && usage === null ? words.none : <Money usd={cost} />),
    text: ({ cost }) => cost,
    number: true,
  }),
]
