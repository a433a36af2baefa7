import type { FromSchema } from 'json-schema-to-ts'
import { duration, isTooShort, tooShort, isDuration } from '../spec/duration.ts'
import type { SectionReport, SettingsAround } from '../spec/service.ts'
import type { TypedRecords } from '../spec/record.ts'
import { isObject } from '../spec/json.ts'
import { rangesOf } from '../config/address-ranges.ts'
import type { serverSettings } from '../config/server-settings.ts'
import type { JsonObject } from '../spec/json.ts'

type Sections = typeof serverSettings.properties

/** Bits of the widest range that an operator may own, such as 10.0.0.0/8 and fd00::/8. */
const narrowest = 8

/** Checks that the schemas of the engine's sections cannot express, by section. */
export const serverChecks: {
  readonly [N in keyof Sections]?: (
    settings: FromSchema<Sections[N]>,
    report: SectionReport,
    records: TypedRecords,
    around: SettingsAround,
  ) => void
} = {
  resilience({ retries }, report, _records, { written }) {
    if (isObject(written['timeouts']))
      checkTimeouts(written['timeouts'], (path, code, message) =>
        report(['timeouts', ...path], message, code, 'warning'),
      )
    const { wait, wait_max: most, on } = retries
    if (duration(wait) > duration(most))
      report(
        ['retries', 'wait'],
        `is longer than wait_max (${most}), which is the longest wait ever`,
        'wait',
        'warning',
      )
    if (on.length === 0)
      report(['retries', 'on'], 'is empty, so no failure leads to a fallback; tries: 1 says so', 'retries', 'warning')
  },
  keepalive({ sse_interval: silence }, report) {
    if (silence !== '0s' && isTooShort(silence)) report(['sse_interval'], tooShort, 'timeout', 'warning')
  },
  security({ trusted_proxies: proxies }, report) {
    for (const [at, range] of proxies.entries())
      if (rangesOf([range]) === undefined)
        report(['trusted_proxies', at], 'must be an address, or a range such as 10.0.0.0/8')
      else if (Number(range.split('/')[1] ?? 32) < narrowest)
        report(
          ['trusted_proxies', at],
          'trusts so many addresses that clients can give themselves any; name your proxies alone',
          'open-door',
          'warning',
        )
  },
  cors({ origins, admin_origins: admins, credentials }, report, _records, { written }) {
    const [header] = ['allow_headers', 'expose_headers', 'credentials'].filter((field) => written[field] !== undefined)
    if (header !== undefined && origins.length + admins.length === 0)
      report([header], 'has no effect while no origin may send requests', 'cors', 'warning')
    for (const [field, list] of Object.entries({ origins, admin_origins: admins }))
      for (const [at, origin] of list.entries())
        if (!isOrigin(origin) && (origin !== '*' || field === 'admin_origins'))
          report(
            [field, at],
            'must be an origin such as https://app.example: a scheme and a host, and nothing after it',
          )
        else if (origin.includes('*') && origin !== '*')
          report([field, at], 'fits no page: origins are compared as they are; name each of them', 'cors', 'warning')
    if (credentials && origins.includes('*'))
      report(['credentials'], '"*" allows every origin, so credentials cannot be allowed with it')
  },
}

/** Whether a text is an origin in the form that browsers send (Fetch standard, section 3.1). */
function isOrigin(text: string): boolean {
  if (/^https?:/.test(text)) return URL.canParse(text) && new URL(text).origin === text
  // Origins of browser extensions and applications have their own schemes.
  return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+$/.test(text)
}

/**
 * Warns of time-outs in which nothing can be done, and of those that are longer than the whole (`total`).
 * @param timeouts as they are written, without defaults
 */
export function checkTimeouts(
  timeouts: JsonObject,
  warn: (path: string[], code: string, message: string) => void,
): void {
  const { total } = timeouts
  for (const [field, value] of Object.entries(timeouts)) {
    if (isTooShort(value)) warn([field], 'timeout', tooShort)
    else if (isDuration(total) && isDuration(value) && !isTooShort(total) && duration(value) > duration(total))
      warn([field], 'timeout', `is longer than total (${total}), which ends the request before`)
  }
}
