import { isIPv6 } from 'node:net'
import { findIbans } from './iban.ts'
import { findPhones } from './phone.ts'
import { among, indexesOf, isAmong, numbersIn, runAfter, runBefore } from './runs.ts'
import type { Among, Place, Searched } from './runs.ts'

/** Data of persons. Where a number has a checksum, that decides. */
export const pii = {
  see: numbersIn,
  sizeOf: (numbers) => numbers.length,
  // The most characters of each are those with the one on each side.
  finders: {
    email: { find: findEmails, longest: 256 },
    phone: { find: findPhones, longest: 32 },
    iban: { find: findIbans, longest: 44 },
    credit_card: { find: findCards, longest: 40 },
    ip: { find: findAddresses, longest: 48 },
    us_ssn: { find: findSocialNumbers, longest: 14 },
  },
} as const satisfies Searched<readonly number[]>

const ofLocal = among.with(among.word, "._%+'-")
const ofDomain = among.with(among.word, '-.')

/** An at sign between a name and a domain (RFC 5321: 64 and 255 characters at most, 254 in all). */
function* findEmails(text: string): Generator<Place> {
  for (const at of indexesOf(text, '@')) {
    let start = runBefore(text, at, ofLocal, 64)
    while (start < at && ".'-".includes(text[start] ?? '')) start++
    if (start === at) continue
    let end = runAfter(text, at + 1, ofDomain, 189)
    while (end > at && '.-'.includes(text[end - 1] ?? '')) end--
    const domain = text.slice(at + 1, end)
    const top = domain.slice(domain.lastIndexOf('.') + 1)
    if (top.length < 2 || top.length === domain.length || domain.includes('..') || /^\d+$/.test(top)) continue
    yield { start, end, entity: 'email' }
  }
}

/** Whether a letter or a digit goes on beside a number. */
function isWithin(text: string, start: number, end: number): boolean {
  return isAmong(text.charCodeAt(start - 1), among.alphanumeric) || isAmong(text.charCodeAt(end), among.alphanumeric)
}

/** 13 to 19 digits, plain or in groups, of a network that issues cards, with a right check digit (Luhn). */
function* findCards(text: string, numbers: readonly number[]): Generator<Place> {
  let after = 0
  for (const start of numbers) {
    if (start < after) continue
    after = groupedAfter(text, start)
    if (after - start < 13 || !'23456'.includes(text[start] ?? '') || isWithin(text, start, after)) continue
    if (isCard(text, start, after)) yield { start, end: after, entity: 'credit_card' }
  }
}

/** Index after digits that single spaces or hyphens may separate. */
function groupedAfter(text: string, from: number): number {
  let at = from
  for (;;) {
    at = runAfter(text, at, among.digit)
    const separates = text[at] === ' ' || text[at] === '-'
    if (!separates || !isAmong(text.charCodeAt(at + 1), among.digit)) return at
    at++
  }
}

function isCard(text: string, start: number, end: number): boolean {
  let sum = 0
  let digits = 0
  for (let at = end - 1; at >= start && digits <= 19; at--) {
    const value = text.charCodeAt(at) - 48
    if (value < 0) continue
    const weighed = digits++ % 2 === 1 ? value * 2 : value
    sum += weighed > 9 ? weighed - 9 : weighed
  }
  return digits >= 13 && digits <= 19 && sum % 10 === 0
}

const ofIp4 = among.with(among.digit, '.')
const ofIp6 = among.with(among.hex, ':.')

function* findAddresses(text: string): Generator<Place> {
  for (const [dot, after] of marksBetween(text, '.', ofIp4, 32)) {
    const start = runBefore(text, dot, ofIp4, 16)
    const end = text[after - 1] === '.' ? after - 1 : after
    if (end - start <= 15 && ip4.test(text.slice(start, end)) && !isWithin(text, start, end))
      yield { start, end, entity: 'ip' }
  }
  if (!text.includes('::') && !/:[\da-fA-F]{1,4}:/.test(text)) return
  for (const [colon, after] of marksBetween(text, ':', ofIp6, 92)) {
    const start = runBefore(text, colon, ofIp6, 46)
    let end = after
    while (end > colon && (text[end - 1] === '.' || (text[end - 1] === ':' && text[end - 2] !== ':'))) end--
    if (isAddress(text.slice(start, end)) && !isWithin(text, start, end)) yield { start, end, entity: 'ip' }
  }
}

/** The indexes of a mark that does not stand alone, each with that after the run which it is in: the next is behind it. */
function* marksBetween(text: string, mark: string, set: Among, most: number): Generator<readonly [number, number]> {
  let after = 0
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, after)) {
    after = at + 1
    if (!isAmong(text.charCodeAt(at - 1), set) && !isAmong(text.charCodeAt(after), set)) continue
    after = runAfter(text, at, set, most)
    yield [at, after]
  }
}

const ip4 = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/

/** Whether it is an IPv6 address, and not a name of a program such as `a::b`. */
function isAddress(text: string): boolean {
  return text.length > 5 && /\d/.test(text) && isIPv6(text)
}

/** Three, two and four digits with hyphens, of an area, a group and a serial that are given out. */
function* findSocialNumbers(text: string, numbers: readonly number[]): Generator<Place> {
  for (const start of numbers) {
    const end = start + 11
    if (text[start + 3] !== '-' || !social.test(text.slice(start, end))) continue
    const isLonger = text[start - 1] === '-' || text[end] === '-'
    if (!isLonger && !isWithin(text, start, end)) yield { start, end, entity: 'us_ssn' }
  }
}

const social = /^(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}$/
