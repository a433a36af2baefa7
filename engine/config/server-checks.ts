import type { FromSchema } from 'json-schema-to-ts'
import type { Report } from '../spec/service.ts'
import { rangesOf } from './address-ranges.ts'
import type { serverSettings } from './server-settings.ts'

type Sections = typeof serverSettings.properties

/** Checks that the schemas of the engine's sections cannot express, by section. */
export const serverChecks: {
  readonly [N in keyof Sections]?: (settings: FromSchema<Sections[N]>, report: Report) => void
} = {
  security({ trusted_proxies: proxies }, report) {
    for (const [at, range] of proxies.entries())
      if (rangesOf([range]) === undefined)
        report(['trusted_proxies', at], 'must be an address, or a range such as 10.0.0.0/8')
  },
  cors({ origins, admin_origins: admins, credentials }, report) {
    for (const [field, list] of Object.entries({ origins, admin_origins: admins }))
      for (const [at, origin] of list.entries())
        if (!isOrigin(origin) && (origin !== '*' || field === 'admin_origins'))
          report(
            [field, at],
            'must be an origin such as https://app.example: a scheme and a host, and nothing after it',
          )
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
