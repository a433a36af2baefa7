/** One series of a scrape: a metric with its labels, and its value. */
export interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * All series of a scrape, in the text format of Prometheus.
 * @param text what `GET /metrics` answered
 */
export function seriesIn(text: string): Series[] {
  return text.split('\n').flatMap((line) => {
    const [, name, among = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === undefined) return []
    const labels = among.split(/,(?=\w+=")/).flatMap((part) => {
      const [, label, own = ''] = /^(\w+)="(.*)"$/.exec(part) ?? []
      return label === undefined ? [] : [[label, own] as const]
    })
    return [{ name, labels: Object.fromEntries(labels), value: Number(value) }]
  })
}

/**
 * The sum of all series of a metric that have these labels, in the text format of Prometheus; undefined: there is none.
 * @param text what `GET /metrics` answered
 */
export function valueIn(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const wanted = Object.entries(labels)
  const found = seriesIn(text).filter(
    (series) => series.name === name && wanted.every(([label, value]) => series.labels[label] === value),
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}
