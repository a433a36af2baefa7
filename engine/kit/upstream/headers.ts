import type { Call } from '../../spec/open-provider.ts'

/** Headers that belong to the connection or to the request itself; the settings of a provider cannot set them. */
const reserved: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Header lines as a flat list of names and values. Later groups replace lines of earlier ones. Throws an `Error`,
 * which never quotes a value, for names and values that HTTP forbids (RFC 9110, section 5.5), above all line breaks.
 */
export function headerLines(
  own: Readonly<Record<string, string>>,
  extra: { readonly [name: string]: unknown } = {},
): readonly string[] {
  const lines = new Map(Object.entries(own))
  for (const [name, value] of Object.entries(extra)) {
    const lower = name.toLowerCase()
    if (reserved.has(lower)) throw new Error(`headers.${lower} cannot be set: the gateway writes it itself`)
    lines.set(lower, String(value))
  }
  for (const [name, value] of lines) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name))
      throw new Error('headers holds a name that is not a valid header name')
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new Error(`the value of the header ${name} holds a character that headers forbid`)
  }
  return [...lines].flat()
}

/** The client's headers listed in `names`, as a flat list of names and values. */
export function passedOn(given: ClientHeaders | undefined, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const value = given?.[name]
    return value === undefined ? [] : [name, String(value)]
  })
}

/** A trace context as a flat list of header names and values. */
export function traceLines({ traceparent, tracestate }: NonNullable<Call['trace']>): string[] {
  return ['traceparent', traceparent, ...(tracestate === undefined ? [] : ['tracestate', tracestate])]
}

/** A client's headers with lower-case names, as in `Call.clientHeaders`. */
export type ClientHeaders = Readonly<Record<string, string | string[] | undefined>>
