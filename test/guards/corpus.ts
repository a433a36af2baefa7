import { createHmac } from 'node:crypto'

/** A value that a guard must find, and the kind that finds it. */
export interface Secret {
  readonly kind: 'pii' | 'secrets'
  readonly entity: string
  readonly value: string
}

/** A key of an API, as `secrets` finds it wherever it stands. */
export const apiKey = 'sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4'

/** Bytes that are always the same for a seed. */
function bytes(seed: string, length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHmac('sha256', 'corpus').update(`${seed}/${index}`).digest(),
  )
  return Buffer.concat(blocks).subarray(0, length)
}

const text = (seed: string, length: number, letters: string) =>
  [...bytes(seed, length)].map((byte) => letters[byte % letters.length]).join('')

const digits = '0123456789'
const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = lower.toUpperCase()
const letters = lower + upper + digits

function luhn(body: string): string {
  const sum = body
    .split('')
    .toReversed()
    .reduce((all, digit, index) => {
      const value = index % 2 === 0 ? Number(digit) * 2 : Number(digit)
      return all + (value > 9 ? value - 9 : value)
    }, 0)
  return body + String((10 - (sum % 10)) % 10)
}

function iban(country: string, account: string): string {
  const numbers = `${account}${country}00`
    .split('')
    .map((letter) => Number.parseInt(letter, 36))
    .join('')
  const check = 98n - (BigInt(numbers) % 97n)
  return `${country}${String(check).padStart(2, '0')}${account}`
}

const base64 = (seed: string, length: number) => bytes(seed, length).toString('base64url')

const makers: readonly ((seed: string) => Secret)[] = [
  (seed) => ({
    kind: 'pii',
    entity: 'email',
    value: `${text(`${seed}a`, 6, lower)}.${text(`${seed}b`, 5, lower)}@${text(`${seed}c`, 8, lower)}.example.com`,
  }),
  (seed) => ({ kind: 'pii', entity: 'phone', value: `+49${1 + (bytes(seed, 1)[0]! % 9)}${text(seed, 9, digits)}` }),
  (seed) => ({
    kind: 'pii',
    entity: 'phone',
    value: `(${2 + (bytes(seed, 1)[0]! % 8)}${text(`${seed}a`, 2, digits)}) ${2 + (bytes(`${seed}d`, 1)[0]! % 8)}${text(`${seed}b`, 2, digits)}-${text(`${seed}c`, 4, digits)}`,
  }),
  (seed) => ({ kind: 'pii', entity: 'iban', value: iban('DE', text(seed, 18, digits)) }),
  (seed) => ({
    kind: 'pii',
    entity: 'iban',
    value: iban('GB', text(`${seed}b`, 4, upper) + text(seed, 14, digits)).replaceAll(/(.{4})(?=.)/g, '$1 '),
  }),
  (seed) => ({ kind: 'pii', entity: 'credit_card', value: luhn(`4${text(seed, 14, digits)}`) }),
  (seed) => ({
    kind: 'pii',
    entity: 'credit_card',
    value: luhn(`5${text(seed, 14, digits)}`).replaceAll(/(.{4})(?=.)/g, '$1-'),
  }),
  (seed) => ({ kind: 'pii', entity: 'ip', value: [...bytes(seed, 4)].join('.') }),
  (seed) => ({
    kind: 'pii',
    entity: 'us_ssn',
    value: `${123 + (bytes(seed, 1)[0]! % 200)}-${11 + (bytes(`${seed}b`, 1)[0]! % 80)}-${1 + (bytes(`${seed}c`, 1)[0]! % 9)}${text(seed, 3, digits)}`,
  }),
  (seed) => ({ kind: 'secrets', entity: 'api_key', value: `sk-proj-${text(seed, 40, letters)}` }),
  (seed) => ({ kind: 'secrets', entity: 'api_key', value: `AIza${text(seed, 35, letters)}` }),
  (seed) => ({ kind: 'secrets', entity: 'github', value: `ghp_${text(seed, 36, letters)}` }),
  (seed) => ({ kind: 'secrets', entity: 'slack', value: `xoxb-${text(seed, 40, letters)}` }),
  (seed) => ({ kind: 'secrets', entity: 'aws', value: `AKIA${text(seed, 16, upper + digits)}` }),
  (seed) => ({
    kind: 'secrets',
    entity: 'jwt',
    value: `eyJ${base64(`${seed}a`, 27)}.eyJ${base64(`${seed}b`, 60)}.${base64(`${seed}c`, 32)}`,
  }),
  (seed) => ({
    kind: 'secrets',
    entity: 'private_key',
    value: `-----BEGIN PRIVATE KEY-----\n${bytes(seed, 160)
      .toString('base64')
      .replaceAll(/(.{64})/g, '$1\n')}\n-----END PRIVATE KEY-----`,
  }),
]

/** 500 values, each with a text around it in which it must be found. */
export const secrets: readonly (Secret & { readonly before: string; readonly after: string })[] = Array.from(
  { length: 500 },
  (_, index) => ({
    ...(makers[index % makers.length] as (seed: string) => Secret)(String(index)),
    before: `Number ${index} of the list is `,
    after: ', and nothing else follows here.',
  }),
)

/** A number from 0 on below another, always the same for a seed. */
export function drawn(seed: string, below: number): number {
  return bytes(seed, 4).readUInt32BE() % below
}

/** A part of a value that nobody may get, if it is long enough not to be there by chance. */
export function leaks(value: string, given: string): boolean {
  const least = Math.max(6, Math.ceil(value.length / 3))
  for (let at = 0; at + least <= value.length; at++) if (given.includes(value.slice(at, at + least))) return true
  return false
}
