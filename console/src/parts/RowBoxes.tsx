import { shared } from '../words.ts'
import classes from './Table.module.css'

/** Rows that are chosen by their boxes. */
export interface Choice<Row> {
  readonly chosen: ReadonlySet<string>
  readonly choose: (ids: ReadonlySet<string>) => void
  /** Names the box of a row; undefined: it cannot be chosen. */
  readonly labelOf: (row: Row) => string | undefined
}

interface RowBoxProps extends Pick<Choice<unknown>, 'chosen' | 'choose'> {
  readonly id: string
  readonly label: string | undefined
}

/** The box of a row. */
export function RowBox({ id, label, chosen, choose }: RowBoxProps) {
  if (label === undefined) return null
  const isChosen = chosen.has(id)
  const toggle = () => choose(new Set(isChosen ? [...chosen].filter((one) => one !== id) : [...chosen, id]))
  return <Box label={label} isChosen={isChosen} onChange={toggle} />
}

interface AllBoxProps<Row> extends Choice<Row> {
  readonly rows: readonly Row[]
  readonly idOf: (row: Row) => string
}

/** The box of all rows that are loaded. */
export function AllBox<Row>({ rows, idOf, labelOf, chosen, choose }: AllBoxProps<Row>) {
  const all = rows.filter((row) => labelOf(row) !== undefined).map(idOf)
  const isChosen = all.length > 0 && all.every((id) => chosen.has(id))
  return <Box label={shared.chooseAll} isChosen={isChosen} onChange={() => choose(new Set(isChosen ? [] : all))} />
}

interface BoxProps {
  readonly label: string
  readonly isChosen: boolean
  readonly onChange: () => void
}

/** The label around it makes the target as large as the row is high. */
function Box({ label, isChosen, onChange }: BoxProps) {
  return (
    <label className={classes.box}>
      <input type="checkbox" aria-label={label} checked={isChosen} onChange={onChange} />
    </label>
  )
}
