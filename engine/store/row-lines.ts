import { parseJson } from '../json/parse.ts'

/** What a column takes. */
export type Stored = string | number | null

/** The columns that rows have values for, in their order. */
export type Columns = readonly string[]

/**
 * Rows of a table as lines of text, as they wait and cross to the thread that writes them: a short text is cheaper to keep
 * and to copy than objects are. A line has the number of the row's columns, a tab, the values as JSON, and behind a second
 * tab the last value if it is a text of one line: a long text there, such as JSON, is not escaped and read again.
 */
export class RowLines {
  /** By their numbers. Mostly all rows have the same. */
  readonly columns: Columns[] = []

  /** The line of a row. Throws on values that JSON cannot hold. */
  lineOf(row: Readonly<Record<string, Stored>>): string {
    const number = this.#numberOf(Object.keys(row))
    const values = Object.values(row)
    const last = values.at(-1)
    const apart = typeof last === 'string' && !last.includes('\n')
    if (apart) values.pop()
    const json = JSON.stringify(values)
    // What cannot be stored is written so in JSON, and hardly anything else is: one search instead of two for each value.
    const text = json.includes('\\u') ? JSON.stringify(values.map(storable)) : json
    return `${number}\t${text}${apart ? `\t${storable(last)}` : ''}`
  }

  #numberOf(columns: Columns): number {
    const found = this.columns.findIndex(
      (known) => known.length === columns.length && known.every((column, index) => column === columns[index]),
    )
    return found >= 0 ? found : this.columns.push(columns) - 1
  }
}

/** The number of a row's columns, and its values, from its line. */
export function readLine(line: string): { readonly columns: number; readonly values: Stored[] } {
  // JSON holds no tab that is not escaped.
  const first = line.indexOf('\t')
  const second = line.indexOf('\t', first + 1)
  const values = parseJson(line.slice(first + 1, second < 0 ? undefined : second)) as Stored[]
  if (second >= 0) values.push(line.slice(second + 1))
  return { columns: Number(line.slice(0, first)), values }
}

/** PostgreSQL's text holds neither NUL nor half a character; both come from clients. */
function storable(value: Stored): Stored {
  if (typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))) return value
  return value.toWellFormed().replaceAll('\0', '\uFFFD')
}
