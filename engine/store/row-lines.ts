import { parseJson } from '../json/parse.ts'

/** A value of a column. */
export type Stored = string | number | null

/** The columns of a row, in the order of its values. */
export type Columns = readonly string[]

/** A row as it waits: in pieces, because a text that is joined from them takes their memory once more. */
export interface Line {
  /** Number of its column list. */
  readonly columns: number
  /** The values as JSON, without the last one if that is apart. */
  readonly values: string
  readonly last: string | undefined
}

/** What is posted of lines, one after the other: texts are cheaper to copy than objects. */
export function piecesOf(lines: readonly Line[]): Pieces {
  const pieces = Array.from({ length: 3 * lines.length }, (): string | undefined => undefined)
  for (let at = 0; at < lines.length; at++) {
    const { columns, values, last } = lines[at] as Line
    pieces[3 * at] = String(columns)
    pieces[3 * at + 1] = values
    pieces[3 * at + 2] = last
  }
  return pieces
}

export type Pieces = readonly (string | undefined)[]

/** The text of lines, joined by line breaks. */
export function textOf(pieces: Pieces): string {
  const texts: string[] = []
  for (let at = 0; at < pieces.length; at += 3) {
    const last = pieces[at + 2]
    texts.push(`${pieces[at]}\t${pieces[at + 1]}${last === undefined ? '' : `\t${last}`}`)
  }
  return texts.join('\n')
}

/**
 * Rows of a table as lines of text, the form in which they reach the thread that writes them, and files: a short text is
 * cheaper to copy than objects. A line consists of the number of its column list, a tab, the values as JSON, and after a
 * second tab the last value if it is a text of one line: a long last text, such as JSON, is thus neither escaped nor
 * parsed.
 */
export class RowLines {
  /** Column lists by number. Usually all rows have the same. */
  readonly columns: Columns[] = []

  /** The values of the row that is being printed; kept, because a row is printed for every request. */
  readonly #values: Stored[] = []
  #last = 0

  /** The line of a row. Throws for values that JSON cannot represent. */
  lineOf(row: Readonly<Record<string, Stored>>): Line {
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
    const apart = typeof last === 'string' && !last.includes('\n') ? last : undefined
    if (apart !== undefined) values.pop()
    const json = JSON.stringify(values)
    // JSON escapes all characters that cannot be stored, and hardly any others, as `\u`: one search instead of two per
    // value.
    const text = json.includes('\\u') ? JSON.stringify(values.map(storable)) : json
    return { columns: this.#last, values: text, last: apart === undefined ? apart : storableText(apart) }
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
  return typeof value === 'string' ? storableText(value) : value
}

function storableText(text: string): string {
  return text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\uFFFD')
}
