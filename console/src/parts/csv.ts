export type CsvValue = string | number | null

/** Rows as CSV (RFC 4180) with a line of names. Texts that a spreadsheet would run as a formula begin with `'`. */
export function csvOf(names: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [names, ...rows].map((row) => row.map(cellOf).join(',')).join('\r\n')
}

function cellOf(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const safe = /^[=+\-@\t]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
