/**
 * The sum of all series of a metric that have these labels, in the text format of Prometheus; undefined: there is none.
 * @param text what `GET /metrics` answered
 */
export function valueIn(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const found = text.split('\n').flatMap((line) => {
    const [, own, among = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    const parts = new Set(among.split(/,(?=\w+=")/))
    return own === name && wanted.every((one) => parts.has(one)) ? [Number(value)] : []
  })
  return found.length === 0 ? undefined : found.reduce((sum, value) => sum + value, 0)
}
