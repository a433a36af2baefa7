/** A date and time with its offset. Seconds may have a fraction (RFC 3339, section 5.6). */
const form = /^(\d{4})-(\d\d)-(\d\d)[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/

/** Unix time in milliseconds of a date and time with any offset (RFC 3339); undefined for any other text. */
export function momentIn(text: string): number | undefined {
  const [, year, month, day] = form.exec(text) ?? []
  const time = Date.parse(text.toUpperCase())
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  // `Date` accepts February 30 and moves it to March.
  return date.getUTCDate() === Number(day) && !Number.isNaN(time) ? time : undefined
}

/** A Unix time in milliseconds as text for clients: RFC 3339, UTC, with milliseconds. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
