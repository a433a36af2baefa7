import { among, runAfter } from './runs.ts'
import type { Among, Place } from './runs.ts'

const ofNumber: Among = (code) => among.digit(code) || ' ()-./'.includes(String.fromCharCode(code))

/** Most characters of a number as it is written. */
const most = 30

/**
 * Numbers of telephones: with a plus and the code of a country (E.164), or national ones with separators, such as
 * `(030) 123-4567`, `030/1234567` and `212-555-0123`. Digits alone may be anything.
 */
export function* findPhones(text: string): Generator<Place> {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isBegin = among.digit(code) || code === 43 || code === 40
    if (!isBegin || among.alphanumeric(text.charCodeAt(at - 1)) || '.-+/:'.includes(text[at - 1] ?? ' ')) continue
    const end = endOf(text, at)
    const written = text.slice(at, end)
    const isWhole = !among.alphanumeric(text.charCodeAt(end))
    // Groups of a longer number, such as that of an account, are none.
    const goesOn = text[at - 1] === ' ' && among.digit(text.charCodeAt(at - 2))
    if (isWhole && (isInternational(written) || (!goesOn && isNational(written)))) {
      yield { start: at, end, entity: 'phone' }
      at = end
    } else if (among.digit(code)) at = runAfter(text, at, among.digit) - 1
  }
}

/** Index after a number: its last digit. */
function endOf(text: string, from: number): number {
  const run = runAfter(text, text[from] === '+' ? from + 1 : from, ofNumber, most)
  let end = run
  while (end > from && !among.digit(text.charCodeAt(end - 1))) end--
  const lines = text.slice(from, end).search(/ {2}|\n/)
  return lines === -1 ? end : from + lines
}

function digitsIn(written: string): number {
  return written.replaceAll(/\D/g, '').length
}

function isInternational(written: string): boolean {
  const digits = digitsIn(written)
  return /^\+[1-9]/.test(written) && digits >= 7 && digits <= 15
}

function isNational(written: string): boolean {
  const digits = digitsIn(written)
  if (digits < 7 || digits > 12) return false
  if (/^\(?[2-9]\d{2}\)?[ .-][2-9]\d{2}[ .-]\d{4}$/.test(written)) return true
  if (/^\([2-9]\d{2}\) ?[2-9]\d{2}[ .-]\d{4}$/.test(written)) return true
  return /^(\(0[1-9]\d{0,4}\) ?|0[1-9]\d{1,4}[ /-])\d[\d -]{3,12}$/.test(written)
}
