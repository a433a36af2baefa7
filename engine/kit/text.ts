import type { Json } from '../spec/json.ts'

const width = 100

/** Rows with aligned columns; the last column is wrapped. */
export function columns(rows: readonly (readonly string[])[], indent = ''): string {
  const widths = (rows[0] ?? [])
    .slice(0, -1)
    .map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) => {
      const before = widths.map((size, column) => `${(row[column] ?? '').padEnd(size)}  `).join('')
      return `${indent}${before}${wrap(row.at(-1) ?? '', ' '.repeat(indent.length + before.length))}`.trimEnd()
    })
    .join('\n')
}

/** A text broken into lines. All lines but the first begin with `indent`, whose width also counts for the first. */
export function wrap(text: string, indent: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line === '' || indent.length + longer.length <= width) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line].join(`\n${indent}`)
}

/** JSON in the format of the commands. */
export function printJson(value: Json): string {
  return JSON.stringify(value, null, 2)
}

/** `1 pipeline`, `2 pipelines`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
