const lengths: Readonly<Record<string, number>> = { '1m': 60_000, '5m': 300_000, '1h': 3_600_000, '1d': 86_400_000 }

/** Bars of a chart that stands beside another one, at most, so that each can be seen and pointed at. */
const mostBars = 200

/** The shortest interval of `GET /api/logs/series` that divides a span of so many milliseconds into bars. */
export function intervalFor(span: number): string {
  return Object.keys(lengths).find((name) => span <= mostBars * (lengths[name] ?? 0)) ?? '1d'
}

interface Span {
  readonly interval: string
  readonly since: string
  readonly until: string
}

/**
 * When each interval of `GET /api/logs/series` begins, RFC 3339, ascending, those without requests included, which the
 * answer leaves out.
 */
export function intervalsOf({ interval, since, until }: Span): readonly string[] {
  const length = lengths[interval] ?? 3_600_000
  const times: string[] = []
  for (let at = Math.floor(Date.parse(since) / length) * length; at < Date.parse(until); at += length)
    times.push(new Date(at).toISOString())
  return times
}
