import { among, isAmong, runBefore } from './runs.ts'
import type { Place } from './runs.ts'

/** Lengths of the IBAN by country (the registry of ISO 13616). */
const lengths = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((one) => [one.slice(0, 2), Number(one.slice(2))] as const),
)

/** Numbers of accounts with a right checksum (ISO 13616, mod 97), plain or in groups of four. */
export function* findIbans(text: string, numbers: readonly number[]): Generator<Place> {
  let after = 0
  for (const digits of numbers) {
    // The two digits after the country are rarer than the letters before them.
    const start = digits - 2
    if (start < after || !isAmong(text.charCodeAt(digits + 1), among.digit)) continue
    if (runBefore(text, digits, among.letter, 3) !== start || isAmong(text.charCodeAt(start - 1), among.digit)) continue
    const length = lengths.get(text.slice(start, digits).toUpperCase())
    const end = length === undefined ? undefined : endOf(text, start, length)
    if (end === undefined || isAmong(text.charCodeAt(end), among.alphanumeric)) continue
    if (remainder(text.slice(start, end).replaceAll(' ', '').toUpperCase()) !== 1) continue
    yield { start, end, entity: 'iban' }
    after = end + 1
  }
}

/** Index after so many letters and digits, which single spaces may separate. */
function endOf(text: string, from: number, length: number): number | undefined {
  let at = from
  for (let count = 0; count < length; at++) {
    if (isAmong(text.charCodeAt(at), among.alphanumeric)) count++
    else if (text[at] !== ' ' || text[at - 1] === ' ') return undefined
  }
  return at
}

/** The remainder of the division by 97, of the number that an IBAN stands for. */
function remainder(iban: string): number {
  let rest = 0
  for (const letter of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(letter, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest
}
