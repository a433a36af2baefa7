import type { Answer } from '../../spec/open-provider.ts'

/** Longest retry delay that is accepted from a provider, in seconds. */
const longest = 3_600

/**
 * The provider's retry delay in seconds, at most an hour: `retry-after-ms` as in official clients, otherwise
 * `retry-after`.
 */
export function retryAfterOf(headers: Answer['headers']): number | undefined {
  const milliseconds = headers['retry-after-ms']
  const value =
    milliseconds !== undefined && /^\d{1,15}$/.test(milliseconds)
      ? Number(milliseconds) / 1000
      : seconds(headers['retry-after'])
  return value === undefined || Number.isNaN(value) ? undefined : Math.min(Math.max(Math.ceil(value), 0), longest)
}

/** A number of seconds, or a date (RFC 9110, section 10.2.3). */
function seconds(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  return /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
}
