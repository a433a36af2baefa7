import { parseJson } from '../json/parse.ts'

/** A value of a column. */
export type Stored = string | number | null

/** The columns of a row, in the order of its values. */
export type Columns = readonly string[]

/**
 * Rows of a table as lines of text, the form in which they wait and are posted to the thread that writes them: a short
 * text is cheaper to keep and to copy than objects. A line consists of the number of its column list, a tab, the values
 * as JSON, and after a second tab the last value if it is a text of one line: a long last text, such as JSON, is thus
 * neither escaped nor parsed.
 */
export class RowLines {
  /** Column lists by number. Usually all rows have the same. */
  readonly columns: Columns[] = []

  /** The values of the row that is being printed; kept, because a row is printed for every request. */
  readonly #values: Stored[] = []
  #last = 0

  /** The line of a row. Throws for values that JSON cannot represent. */
  lineOf(row: Readonly<Record<string, Stored>>): string {
    const values = this.#values
    const columns = this.columns[this.#last] ?? []
    let count = 0
    let isLast = true
    for (const name in row) {
      isLast &&= columns[count] === name
      values[count++] = row[name] as Stored
    }
    values.length = count
    if (!isLast || count !== columns.length) this.#last = this.#numberOf(Object.keys(row))
    const last = values.at(-1)
    const apart = typeof last === 'string' && !last.includes('\n')
    if (apart) values.pop()
    const json = JSON.stringify(values)
    // JSON escapes all characters that cannot be stored, and hardly any others, as `\u`: one search instead of two per
    // value.
    const text = json.includes('\\u') ? JSON.stringify(values.map(storable)) : json
    return `${this.#last}\t${text}${apart ? `\t${storable(last)}` : ''}`
  }

  #numberOf(columns: Columns): number {
    const found = this.columns.findIndex(
      (known) => known.length === columns.length && known.every((column, index) => column === columns[index]),
    )
    return found >= 0 ? found : this.columns.push(columns) - 1
  }
}

/** The number of the column list, and the values, of a line. */
export function readLine(line: string): { readonly columns: number; readonly values: Stored[] } {
  // In JSON every tab is escaped.
  const first = line.indexOf('\t')
  const second = line.indexOf('\t', first + 1)
  const values = parseJson(line.slice(first + 1, second < 0 ? undefined : second)) as Stored[]
  if (second >= 0) values.push(line.slice(second + 1))
  return { columns: Number(line.slice(0, first)), values }
}

/** PostgreSQL texts hold neither NUL nor lone surrogates; clients may send both. */
function storable(value: Stored): Stored {
  if (typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))) return value
  return value.toWellFormed().replaceAll('\0', '\uFFFD')
}
