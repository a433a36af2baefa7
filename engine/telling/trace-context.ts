import type { IncomingHttpHeaders } from 'node:http'
import type { TraceContext } from '../spec/scope.ts'

/** Version, trace, parent and flags; later versions may append more (W3C Trace Context, section 3.2.2). */
const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const nothing = /^0+$/

/** A key of `tracestate` (section 3.3.1); it may have a tenant before an "@". */
const key = /^[a-z0-9][a-z0-9_\-*/@]{0,255}$/
const value = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/
const mostMembers = 32
/** Maximum characters; the standard requires at least 512. */
const longest = 4_096

/**
 * The validated trace context of a request; undefined when it is absent or invalid. An invalid `tracestate` alone is
 * dropped. A later version is passed on as the version known here (section 3.2.4).
 */
export function traceContext(headers: IncomingHttpHeaders): TraceContext | undefined {
  const given = headers['traceparent']
  // Node joins a repeated header with a comma, which makes it invalid.
  if (typeof given !== 'string' || given.length > longest) return undefined
  const [, version = '', trace = '', parent = '', flags = '', more] = traceparent.exec(given) ?? []
  if (version === '' || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (nothing.test(trace) || nothing.test(parent)) return undefined
  const state = stateOf(headers['tracestate'])
  return { traceparent: `00-${trace}-${parent}-${flags}`, ...(state === undefined ? {} : { tracestate: state }) }
}

function stateOf(given: string | string[] | undefined): string | undefined {
  const text = typeof given === 'string' ? given : given?.join(',')
  if (text === undefined || text.length > longest) return undefined
  // Empty members are allowed and have no meaning.
  const members = text.split(',').flatMap((member) => member.trim() || [])
  const keys = members.map((member) => member.slice(0, Math.max(0, member.indexOf('='))))
  const right =
    members.length > 0 &&
    members.length <= mostMembers &&
    new Set(keys).size === keys.length &&
    members.every((member, index) => {
      const name = keys[index] ?? ''
      return key.test(name) && value.test(member.slice(name.length + 1))
    })
  return right ? members.join(',') : undefined
}
