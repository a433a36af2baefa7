import { count, money } from '../../format.ts'
import type { Column } from '../../parts/Table.tsx'
import { RecordName } from '../../parts/RecordName.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { Abilities, abilitiesOf } from './Abilities.tsx'
import type { AnyModel, Model } from './api.ts'
import { State, stateText } from './State.tsx'
import { words } from './words.ts'
import classes from './models.module.css'

const names = words.columns

const price = ({ pricing }: AnyModel, bucket: string): number | null => {
  const value = pricing?.[bucket]
  return typeof value === 'number' ? value : null
}

/** A price of which none is known is a dash: unlike a cost, nothing was spent. */
const priceText = (value: number | null) => (value === null ? '—' : money(value))

/** What everybody sees. */
export const catalogColumns: readonly Column<AnyModel>[] = [
  {
    name: 'name',
    label: names.name,
    cell: ({ virtual, display_name: shown, ...row }) => (
      <RecordName {...row}>
        {virtual && <Tag look="accent">{words.virtual}</Tag>}
        {shown !== null && shown !== row.name && <span className={classes.faint}>{shown}</span>}
      </RecordName>
    ),
    text: ({ name }) => name,
  },
  { name: 'state', label: names.state, cell: (model) => <State model={model} />, text: stateText },
  { name: 'provider', label: names.provider, cell: (row) => row.provider ?? '—', text: (row) => row.provider ?? null },
  {
    name: 'can',
    label: names.can,
    cell: (row) => <Abilities model={row} />,
    text: (row) => abilitiesOf(row).join(', '),
  },
  {
    name: 'context',
    label: names.context,
    number: true,
    cell: (row) => count(row.context_length),
    text: (row) => row.context_length,
  },
  ...(['input', 'output'] as const).map((bucket) => ({
    name: bucket,
    label: names[bucket],
    number: true,
    cell: (row: AnyModel) => priceText(price(row, bucket)),
    text: (row: AnyModel) => price(row, bucket),
  })),
  { name: 'tier', label: names.tier, cell: (row) => row.quality_tier ?? '—', text: (row) => row.quality_tier },
]

const modesOf = ({ auto_eligible: isCandidate, routing_assignments: modes }: Model): string =>
  isCandidate ? (modes?.join(', ') ?? words.modes.all) : words.modes.none

/** What admins see besides. */
export const columns: readonly Column<Model>[] = [
  ...catalogColumns.map((column): Column<Model> => {
    if (column.name !== 'name') return column.name === 'provider' ? { ...column, sort: 'provider' } : column
    return { ...column, sort: 'name' }
  }),
  { name: 'modes', label: names.modes, cell: modesOf, text: modesOf },
  {
    name: 'upstream',
    label: names.upstream,
    cell: (row) => row.upstream_model ?? '—',
    text: (row) => row.upstream_model,
    spare: true,
  },
  {
    name: 'pricing',
    label: names.pricing,
    cell: (row) => words.pricingSources[row.pricing_source],
    text: (row) => words.pricingSources[row.pricing_source],
    spare: true,
  },
]
