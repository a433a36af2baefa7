import { among, isAmong } from './runs.ts'
import type { Place } from './runs.ts'

const ofNumber = among.with(among.digit, ' ()-./')

/** What no number follows at once, so that it is no part of something longer. */
const ofLonger = among.with(among.alphanumeric, '.-+/:')

/** Most characters of a number as it is written. */
const most = 30

/**
 * Numbers of telephones: with a plus and the code of a country (E.164), or national ones with separators, such as
 * `(030) 123-4567`, `030/1234567` and `212-555-0123`. Digits alone may be anything.
 */
export function* findPhones(text: string, numbers: readonly number[]): Generator<Place> {
  let after = 0
  for (const digits of numbers) {
    const before = text[digits - 1]
    const starts = before === '+' || before === '(' ? [digits - 1, digits] : [digits]
    for (const start of starts) {
      if (start < after || isAmong(text.charCodeAt(start - 1), ofLonger)) continue
      const end = endOf(text, start)
      if (end - start < 7 || isAmong(text.charCodeAt(end), among.alphanumeric)) continue
      const written = text.slice(start, end)
      // Groups of a longer number, such as that of an account, are none.
      const goesOn = text[start - 1] === ' ' && isAmong(text.charCodeAt(start - 2), among.digit)
      if (!isInternational(written) && (goesOn || !isNational(written))) continue
      yield { start, end, entity: 'phone' }
      after = end + 1
    }
  }
}

/** Index after a number: its last digit before a line ends, or two spaces follow each other. */
function endOf(text: string, from: number): number {
  const start = text[from] === '+' ? from + 1 : from
  const last = Math.min(text.length, start + most)
  let end = from
  let gap = -1
  for (let at = start; at < last; at++) {
    const code = text.charCodeAt(at)
    if (!isAmong(code, ofNumber)) break
    if (isAmong(code, among.digit)) {
      if (gap !== -1) return gap
      end = at + 1
    } else if (gap === -1 && code === 32 && text.charCodeAt(at + 1) === 32) gap = at
  }
  return end
}

function digitsIn(written: string): number {
  return written.replaceAll(/\D/g, '').length
}

function isInternational(written: string): boolean {
  if (!/^\+[1-9]/.test(written)) return false
  const digits = digitsIn(written)
  return digits >= 7 && digits <= 15
}

const national = [
  /^\(?[2-9]\d{2}\)?[ .-][2-9]\d{2}[ .-]\d{4}$/,
  /^\([2-9]\d{2}\) ?[2-9]\d{2}[ .-]\d{4}$/,
  /^(\(0[1-9]\d{0,4}\) ?|0[1-9]\d{1,4}[ /-])\d[\d -]{3,12}$/,
]

function isNational(written: string): boolean {
  if (!national.some((form) => form.test(written))) return false
  const digits = digitsIn(written)
  return digits >= 7 && digits <= 12
}
