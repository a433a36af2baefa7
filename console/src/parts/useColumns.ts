import { useState } from 'react'
import type { Column } from './Table.tsx'

/** A column that can be hidden and moved. */
export interface ColumnChoice<Row> {
  readonly column: Column<Row>
  readonly isShown: boolean
}

export interface Columns<Row> {
  readonly shown: readonly Column<Row>[]
  /** All but the first, which is the link of its row and stays where it is. */
  readonly choices: readonly ColumnChoice<Row>[]
  /** Keeps which are shown, and in which order; `null`: as they usually are. */
  readonly choose: (choices: readonly ColumnChoice<Row>[] | null) => void
}

/** The columns that somebody wants to see and their order, kept per browser under `place`. */
export function useColumns<Row>(place: string, all: readonly Column<Row>[]): Columns<Row> {
  const [kept, setKept] = useState(() => localStorage.getItem(place))
  const choices = arranged(all.slice(1), kept)
  const choose = (next: readonly ColumnChoice<Row>[] | null) => {
    const text = next && next.map(({ column: { name }, isShown }) => (isShown ? name : `-${name}`)).join(',')
    if (text === null) localStorage.removeItem(place)
    else localStorage.setItem(place, text)
    setKept(text)
  }
  const chosen = choices.filter(({ isShown }) => isShown).map(({ column }) => column)
  return { shown: [...all.slice(0, 1), ...chosen], choices, choose }
}

/** The columns in the order that was kept, as `model,-provider`; one that it does not name stands where it usually does. */
function arranged<Row>(all: readonly Column<Row>[], kept: string | null): readonly ColumnChoice<Row>[] {
  const names = kept?.split(',') ?? []
  const choices = names.flatMap((name) => {
    const column = all.find((one) => one.name === name.replace(/^-/, ''))
    return column ? [{ column, isShown: !name.startsWith('-') }] : []
  })
  for (const [index, column] of all.entries())
    if (!choices.some((choice) => choice.column === column))
      choices.splice(index, 0, { column, isShown: !column.spare })
  return choices
}
