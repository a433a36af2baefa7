import { createHmac, randomUUIDv7, timingSafeEqual } from 'node:crypto'
import type { JsonObject } from '../../engine/index.ts'
import { parsedObject } from '../../engine/kit.ts'

/** What a session token says (RFC 7519, section 4). Times in seconds since 1970. */
export interface Claims {
  /** The id of the member. */
  readonly sub: string
  /** The id of the token, a UUID of version 7. */
  readonly jti: string
  /** The member's session version when the token was made. */
  readonly ver: number
  readonly iat: number
  readonly exp: number
  /** When the password was given. */
  readonly auth_time: number
}

/** The part of a token's id that all tokens of one session share; no id of a token. */
export function chainOf(jti: string): string {
  return jti.slice(chainStart)
}

/** The id of a token, in the chain of an earlier one of its session. */
export function newId(earlier?: string): string {
  const id = randomUUIDv7()
  return earlier === undefined ? id : id.slice(0, chainStart) + chainOf(earlier)
}

/** Before it, a UUID of version 7 has its time; after it, 62 random bits (RFC 9562, section 5.7). */
const chainStart = 19

const header = { alg: 'HS256', typ: 'JWT' }
const fixed = { iss: 'sluice', aud: 'sluice-console' }

/** Maximum characters of a token. */
const longest = 4_096

/** Seconds by which the clock of the process that made a token may be ahead. */
export const skew = 60

/** Maximum seconds from the making of a token to its end. */
export const longestLife = 24 * 60 * 60

const names = ['iss', 'aud', 'sub', 'jti', 'ver', 'iat', 'exp', 'auth_time']
const uuid = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** A signed token (RFC 7515, compact form). */
export function printToken(claims: Claims, key: Uint8Array): string {
  const signed = `${encoded(header)}.${encoded({ ...fixed, ...claims })}`
  return `${signed}.${signatureOf(signed, key).toString('base64url')}`
}

/**
 * The claims of a token; undefined if it was not made with this key, is not exactly of this form, is from the future or
 * has expired.
 * @param now seconds since 1970
 */
export function readToken(token: string, key: Uint8Array, now: number): Claims | undefined {
  if (token.length > longest) return undefined
  const parts = token.split('.')
  const [head, body, signature] = parts.map(decoded)
  if (parts.length !== 3 || !head || !body || !signature) return undefined
  const expected = signatureOf(token.slice(0, token.lastIndexOf('.')), key)
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return undefined
  if (!isHeader(parsedObject(head.toString()))) return undefined
  const claims = claimsIn(parsedObject(body.toString()))
  return claims !== undefined && isNow(claims, now) ? claims : undefined
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** The bytes of a part; undefined unless it is their only spelling (RFC 4648, section 3.5). */
function decoded(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url')
  return part !== '' && bytes.toString('base64url') === part ? bytes : undefined
}

function signatureOf(signed: string, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(signed).digest()
}

function isHeader(value: JsonObject | undefined): boolean {
  return (
    value !== undefined && Object.keys(value).length === 2 && value['alg'] === header.alg && value['typ'] === header.typ
  )
}

function claimsIn(value: JsonObject | undefined): Claims | undefined {
  if (value === undefined || Object.keys(value).length !== names.length) return undefined
  const { iss, aud, sub, jti, ver, iat, exp, auth_time } = value
  if (iss !== fixed.iss || aud !== fixed.aud) return undefined
  if (typeof sub !== 'string' || typeof jti !== 'string' || !uuid.test(jti)) return undefined
  if (!isWhole(ver) || !isWhole(iat) || !isWhole(exp) || !isWhole(auth_time)) return undefined
  return { sub, jti, ver, iat, exp, auth_time }
}

function isNow({ iat, exp, auth_time: since }: Claims, now: number): boolean {
  return exp > now && iat <= now + skew && exp - iat <= longestLife && since <= iat
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
