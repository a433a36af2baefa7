import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { AnyGuard, Found, Judge, Judged, JudgeScope } from '../../../engine/index.ts'
import pii from '../../../plugins/guards/pii.ts'
import secretsKind from '../../../plugins/guards/secrets.ts'
import { drawn, secrets } from '../../guards/corpus.ts'

/**
 * What the finders found before they searched only beside what one pass over a text has seen: each character was looked
 * at by each of them. It changes only where what is found is to change.
 */
const golden = join(import.meta.dirname, '..', '..', 'golden', 'guards', 'places.json')

const kinds: readonly (readonly [AnyGuard, readonly string[]])[] = [
  [pii, ['email', 'phone', 'iban', 'credit_card', 'ip', 'us_ssn']],
  [secretsKind, ['api_key', 'private_key', 'jwt', 'aws', 'github', 'slack']],
]

/** Pieces of values, what looks like them, and letters that are something else in another width, case or form. */
const pieces =
  `key|Token|SECRET|passwd|passwort|credential|bearer|Schlüssel|SCHLÜSSEL|aws|AWS|access_key|secretAccessKey|the|is|monkey
ſecret|\u212aey|passwortoken|keytoken|İ|ß|日本|😀|é|e\u0301|\u200b|４１１１|Ｋey|½|٣|sk-|sk_live_|whsec_|AIza|ya29.|hf_|key-|SG.
xoxe.xoxp-|xoxb-|hooks.slack.com/services/T|ghp_|github_pat_|AKIA|.eyJ|eyJhbGciOiJIUzI1NiJ9|-----BEGIN |-----END |-----
-----BEGIN RSA PRIVATE KEY-----|::|2001:db8::|ff00:42|a::b|10.0.0.|192.168.0.17|300.1.2.3|+49|(030)|030|(415) |555-0123
415-555-0123|123-45-6789|000-12-3456|DE89|DE89 3704 0044 0532 0130 00|GB82WEST12345698765432|4111 1111 1111 1111|4111-1111
ann@|example.com|@|.co.uk|a1B2c3D4e5F6g7H8i9J0|kJ8f2LmQ9xZr4TvB7nWc1YpD|000|999|0|1|12|345|6789|12345678901234567890`.split(
    /[|\n]/,
  )
const between = ['', '', '', ' ', ' ', '  ', '\n', '.', '-', '_', ':', '=', '"', '/', '(', ')', '+', ' = "', '": "']

/** A text of such pieces and of whole values, always the same for a number. */
function mixture(number: number): string {
  const draw = (at: number | string, below: number) => drawn(`mixture ${number} ${at}`, below)
  return Array.from({ length: 2 + draw('length', 16) }, (_, at) => {
    const value = secrets[draw(`value ${at}`, secrets.length)]?.value
    const piece = draw(`kind ${at}`, 4) === 0 ? value : pieces[draw(`piece ${at}`, pieces.length)]
    return `${piece}${between[draw(`between ${at}`, between.length)]}`
  }).join('')
}

function judgeOf(kind: AnyGuard, entities: readonly string[]) {
  const judge = kind.build({ entities }, {} as never, {}) as Judge
  return (text: string, places = true) =>
    judge({ texts: [{ text }] } as unknown as Judged, { places, timeout: 1_000 } as JudgeScope) as Found
}

/** The places of everything that is found, each entity sought alone and all together. */
function placesIn(text: string): string {
  const found = kinds.flatMap(([kind, entities]) =>
    [...entities.map((one) => [one]), entities].map((some) =>
      (judgeOf(kind, some)(text).spans ?? []).map(({ start, end, entity }) => `${entity} ${start} ${end}`).join(),
    ),
  )
  return found.join(';')
}

const count = 600

describe('plugins/guards: what is found in mixtures', () => {
  it('is what a search of every character finds', function () {
    this.timeout(60_000)
    const places = Array.from({ length: count }, (_, number) => placesIn(mixture(number)))
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, `${JSON.stringify(places, undefined, 1)}\n`)
    const wanted = JSON.parse(readFileSync(golden, 'utf8')) as readonly string[]
    expect(wanted).to.have.length(count)
    for (const [number, one] of places.entries()) expect(one, mixture(number)).to.equal(wanted[number])
    for (const entity of kinds.flatMap(([, entities]) => entities))
      expect(wanted.filter((one) => one.includes(`${entity} `)).length, entity).to.be.above(10)
  })

  it('is found, too, where one place is enough', () => {
    for (let number = 0; number < count; number++)
      for (const [kind, entities] of kinds) {
        const judge = judgeOf(kind, entities)
        expect(judge(mixture(number), false).hit).to.equal(judge(mixture(number)).hit)
      }
  })

  it('stands as far behind what stands before it', () => {
    const before = { ascii: `${'Nothing is here. '.repeat(40)}\n`, wide: `${'Здесь ничего нет… '.repeat(40)}\n` }
    for (let number = 0; number < count; number += 3)
      for (const [kind, entities] of kinds) {
        const judge = judgeOf(kind, entities)
        const alone = judge(`\n${mixture(number)}`).spans ?? []
        for (const text of Object.values(before)) {
          const moved = alone.map((span) => ({
            ...span,
            start: span.start + text.length - 1,
            end: span.end + text.length - 1,
          }))
          expect(judge(text + mixture(number)).spans, mixture(number)).to.deep.equal(moved)
        }
      }
  })
})
