import { isIPv6 } from 'node:net'
import { defineGuard } from '../../engine/index.ts'
import { entitiesConfig, placesIn } from './entities.ts'
import type { Finder } from './entities.ts'
import { findIbans } from './iban.ts'
import { findPhones } from './phone.ts'
import { among, indexesOf, runAfter, runBefore } from './runs.ts'
import type { Among, Place } from './runs.ts'

const entities = ['email', 'phone', 'iban', 'credit_card', 'ip', 'us_ssn'] as const
type Entity = (typeof entities)[number]

/** How each is found, and its most characters with the one on each side. */
const finders: Readonly<Record<Entity, Finder>> = {
  email: { find: findEmails, longest: 256 },
  phone: { find: findPhones, longest: 32 },
  iban: { find: findIbans, longest: 44 },
  credit_card: { find: findCards, longest: 40 },
  ip: { find: findAddresses, longest: 48 },
  us_ssn: { find: findSocialNumbers, longest: 14 },
}

/** Finds data of persons. Where a number has a checksum, that decides. */
export default defineGuard({
  name: 'pii',
  summary:
    'Finds addresses of e-mail, numbers of telephones, accounts and cards, IP addresses, US social security numbers.',
  config: entitiesConfig(entities),
  longest: ({ entities: wanted }) => Math.max(...wanted.map((entity) => finders[entity].longest)),
  build({ entities: wanted }) {
    const looking = wanted.map((entity) => finders[entity])
    return ({ texts }, { places }) => placesIn(texts, looking, places)
  },
})

const ofLocal: Among = (code) => among.word(code) || "._%+'-".includes(String.fromCharCode(code))
const ofDomain: Among = (code) => among.word(code) || code === 45 || code === 46

/** An at sign between a name and a domain (RFC 5321: 64 and 255 characters at most, 254 in all). */
function* findEmails(text: string): Generator<Place> {
  for (const at of indexesOf(text, '@')) {
    let start = runBefore(text, at, ofLocal, 64)
    while (start < at && ".'-".includes(text[start] ?? '')) start++
    let end = runAfter(text, at + 1, ofDomain, 189)
    while (end > at && '.-'.includes(text[end - 1] ?? '')) end--
    const domain = text.slice(at + 1, end)
    const [top = ''] = domain.split('.').slice(-1)
    if (start < at && domain.includes('.') && !domain.includes('..') && top.length >= 2 && !/^\d+$/.test(top))
      yield { start, end, entity: 'email' }
  }
}

/** Whether a digit, or a separator with a digit behind it, goes on beside a number. */
function isWithin(text: string, start: number, end: number): boolean {
  return among.alphanumeric(text.charCodeAt(start - 1)) || among.alphanumeric(text.charCodeAt(end))
}

/** 13 to 19 digits, plain or in groups, of a network that issues cards, with a right check digit (Luhn). */
function* findCards(text: string): Generator<Place> {
  for (let at = 0; at < text.length; at++) {
    if (!among.digit(text.charCodeAt(at))) continue
    const end = groupedAfter(text, at)
    const digits = text.slice(at, end).replaceAll(/[ -]/g, '')
    if (!isWithin(text, at, end) && isCard(digits)) yield { start: at, end, entity: 'credit_card' }
    at = Math.max(at, end)
  }
}

/** Index after digits that single spaces or hyphens may separate. */
function groupedAfter(text: string, from: number): number {
  let at = from
  for (;;) {
    at = runAfter(text, at, among.digit)
    const separates = text[at] === ' ' || text[at] === '-'
    if (!separates || !among.digit(text.charCodeAt(at + 1))) return at
    at++
  }
}

function isCard(digits: string): boolean {
  return digits.length >= 13 && digits.length <= 19 && /^[2-6]/.test(digits) && isLuhn(digits)
}

function isLuhn(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const value = digits.charCodeAt(digits.length - 1 - index) - 48
    const doubled = index % 2 === 1 ? value * 2 : value
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

const ofIp4: Among = (code) => among.digit(code) || code === 46
const ofIp6: Among = (code) => among.hex(code) || code === 58 || code === 46

function* findAddresses(text: string): Generator<Place> {
  for (let dot = text.indexOf('.'); dot !== -1;) {
    const start = runBefore(text, dot, ofIp4, 16)
    let end = runAfter(text, dot, ofIp4, 32)
    const after = end
    if (text[end - 1] === '.') end--
    const parts = text.slice(start, end).split('.')
    if (parts.length === 4 && parts.every(isOctet) && !isWithin(text, start, end)) yield { start, end, entity: 'ip' }
    dot = text.indexOf('.', Math.max(after, dot + 1))
  }
  for (
    let colon = text.indexOf('::') === -1 && !/:[\da-fA-F]{1,4}:/.test(text) ? -1 : text.indexOf(':');
    colon !== -1;
  ) {
    const start = runBefore(text, colon, ofIp6, 46)
    let end = runAfter(text, colon, ofIp6, 92)
    const after = end
    while (end > colon && (text[end - 1] === '.' || (text[end - 1] === ':' && text[end - 2] !== ':'))) end--
    if (isAddress(text.slice(start, end)) && !isWithin(text, start, end)) yield { start, end, entity: 'ip' }
    colon = text.indexOf(':', Math.max(after, colon + 1))
  }
}

/** Whether it is an IPv6 address, and not a name of a program such as `a::b`. */
function isAddress(text: string): boolean {
  return text.length > 5 && /\d/.test(text) && isIPv6(text)
}

function isOctet(part: string): boolean {
  return /^\d{1,3}$/.test(part) && Number(part) <= 255 && !/^0\d/.test(part)
}

/** Three, two and four digits with hyphens, of an area, a group and a serial that are given out. */
function* findSocialNumbers(text: string): Generator<Place> {
  for (const hyphen of indexesOf(text, '-')) {
    const start = hyphen - 3
    const [, area = '', group = '', serial = ''] =
      /^(\d{3})-(\d{2})-(\d{4})$/.exec(text.slice(Math.max(start, 0), hyphen + 8)) ?? []
    if (area === '' || start < 0 || /^(000|666|9\d\d)$/.test(area) || group === '00' || serial === '0000') continue
    const isLonger = text[start - 1] === '-' || text[hyphen + 8] === '-'
    if (!isLonger && !isWithin(text, start, hyphen + 8)) yield { start, end: hyphen + 8, entity: 'us_ssn' }
  }
}
