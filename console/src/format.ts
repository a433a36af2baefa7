/** Figures, shares, durations and money as every screen shows them. Absent values are a dash. */
const none = '—'

// Formatters are made once: to make one takes a hundred times as long as to use it, and a list has hundreds of figures.
const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const cents = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const micros = new Intl.NumberFormat('en', { minimumFractionDigits: 6 })
const three = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })
const four = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })

const scaled = (value: number) => three.format(value)

/** `184,203`, and `1.24 M` from a million on. */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined) return none
  if (value < 1e6) return grouped.format(value)
  // 999,999,999 is 1 G, not 1,000 M.
  return value < 9.995e8 ? `${scaled(value / 1e6)} M` : `${scaled(value / 1e9)} G`
}

/** A figure at an axis: `4.5 k`. */
export function tick(value: number): string {
  return value < 1000 ? String(value) : value < 1e6 ? `${scaled(value / 1000)} k` : count(value)
}

/** Milliseconds at an axis: `250 ms`, `1.2 s`. */
export const durationTick = (value: number): string =>
  value === 0 ? '0' : value < 1000 ? `${scaled(value)} ms` : `${scaled(value / 1000)} s`

/** A part of one: `0.42 %` below ten per cent, `42.1 %` above. */
export function share(part: number | null | undefined): string {
  if (part === null || part === undefined || !Number.isFinite(part)) return none
  const percent = part * 100
  return percent === 0 ? '0 %' : `${percent.toFixed(Math.abs(percent) < 10 ? 2 : 1)} %`
}

/** With a true minus. */
const signed = (value: number, text: string) => `${value < 0 ? '−' : value > 0 ? '+' : ''}${text}`

/** How much more than before: `−3 %`; undefined where there was nothing before. */
export function change(now: number | null | undefined, before: number | null | undefined): string | undefined {
  if (!before || now === null || now === undefined) return undefined
  const percent = Math.round((now / before - 1) * 100)
  return signed(percent, `${Math.abs(percent)} %`)
}

/** How many points one share is above another: `+0.31 pt`. */
export function points(now: number, before: number): string | undefined {
  const difference = (now - before) * 100
  return Number.isFinite(difference) ? signed(difference, `${Math.abs(difference).toFixed(2)} pt`) : undefined
}

/** Milliseconds as `0.05 ms`, `356 ms`, `8.42 s`, `2 min 5 s`. */
export function duration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return none
  // Each unit ends where rounding would give the next one.
  if (milliseconds < 0.995) return `${milliseconds.toFixed(2)} ms`
  if (milliseconds < 999.5) return `${scaled(milliseconds)} ms`
  if (milliseconds < 59_995) return `${(milliseconds / 1000).toFixed(2)} s`
  const seconds = Math.round(milliseconds / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** USD: `$318.42`; below a dollar four significant digits, so that more than nothing is never `$0.00`. */
export function money(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return 'unknown'
  const size = Math.abs(usd)
  const text = (size === 0 || size >= 0.99995 ? cents : four).format(size)
  return `${usd < 0 ? '−' : ''}$${text}`
}

/** USD to the micro-USD, for details and copies: `$0.022455`. */
export function exactMoney(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return 'unknown'
  return `${usd < 0 ? '−' : ''}$${micros.format(Math.abs(usd))}`
}

/** The buckets of tokens in the order in which they are always shown, with the number of their series' colour. */
export const buckets = [
  { name: 'cache_read', label: 'cache read', series: 3 },
  { name: 'input', label: 'input', series: 1 },
  { name: 'cache_write', label: 'cache write', series: 5 },
  { name: 'output', label: 'output', series: 2 },
  { name: 'reasoning', label: 'reasoning', series: 4 },
] as const

/** Tokens by what they are billed as. */
export type Tokens = Readonly<Record<(typeof buckets)[number]['name'], number>>

/** An id as its first eight characters and its last four; the whole one is for copies. */
export const shortId = (id: string): string => (id.length > 14 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id)

/** In which zone times are shown. */
export type Zone = 'utc' | 'local'

/** A format of times, made once for each zone. */
function timeFormat(
  locale: string | undefined,
  options: Intl.DateTimeFormatOptions,
): (time: number, zone: Zone) => string {
  const made = new Map<Zone, Intl.DateTimeFormat>()
  return (time, zone) => {
    let format = made.get(zone)
    if (!format) {
      format = new Intl.DateTimeFormat(locale, { ...options, ...(zone === 'utc' && { timeZone: 'UTC' }) })
      made.set(zone, format)
    }
    return format.format(time)
  }
}

const toMinute = { hour: '2-digit', minute: '2-digit' } as const
const minuteOf = timeFormat('en-GB', toMinute)
const millisecondOf = timeFormat('en-GB', { ...toMinute, second: '2-digit', fractionalSecondDigits: 3 })
const dayOf = timeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' })
const dayOfYear = timeFormat(undefined, { month: 'short', day: 'numeric' })

/** The time of a day, with the date before it when that is not today. */
function dated(moment: string, zone: Zone, now: number, timeOf: typeof minuteOf): string {
  const at = Date.parse(moment)
  const day = dayOf(at, zone)
  return day === dayOf(now, zone) ? timeOf(at, zone) : `${day}, ${timeOf(at, zone)}`
}

/** A moment in a table: `12:41:07.482`, with the date before it when it is not today. */
export const clock = (moment: string, zone: Zone, now = Date.now()): string => dated(moment, zone, now, millisecondOf)

/** When an interval begins: `12:41`, with the date before it when it is not today. */
export const minute = (moment: string, zone: Zone, now = Date.now()): string => dated(moment, zone, now, minuteOf)

/** A time at an axis whose ticks are `step` milliseconds apart: `12:41`, and a date for whole days. */
export function axisTime(time: number, step: number, zone: Zone): string {
  const hours = minuteOf(time, zone)
  return step < 86_400_000 && hours !== '00:00' ? hours : dayOfYear(time, zone)
}

/** How long ago a moment was: `6 min ago`. */
export function ago(moment: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(moment)) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} days ago`
}

/** How far ahead a moment is: `in 6 min`. */
export function ahead(moment: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((Date.parse(moment) - now) / 1000))
  if (seconds < 60) return `in ${seconds} s`
  if (seconds < 3600) return `in ${Math.floor(seconds / 60)} min`
  if (seconds < 172_800) return `in ${Math.floor(seconds / 3600)} h`
  return `in ${Math.floor(seconds / 86_400)} days`
}

/** A moment seen from now: `6 min ago` or `in 6 min`. */
export const relative = (moment: string, now = Date.now()): string =>
  Date.parse(moment) > now ? ahead(moment, now) : ago(moment, now)

/** Bytes in decimal units: `4.1 kB`. */
export function bytes(size: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const at = size < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(size) / 3))
  return `${scaled(size / 1000 ** at)} ${units[at]}`
}

/** The number that somebody types: `1,000` has a comma between its thousands, as numbers are shown here, `0,5` a decimal one. */
export function numberOf(text: string): number {
  const isGrouped = /^\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*$/.test(text)
  return Number(isGrouped ? text.replaceAll(',', '') : text.replace(',', '.'))
}
