import { expect } from 'chai'
import * as fc from 'fast-check'
import {
  HIDDEN,
  Secrets,
  credentialsOf,
  isPlain,
  isSecretName,
  secretsOfAddress,
} from '../../../engine/secrets/redaction.ts'
import { workRatio } from '../../support/work.ts'

const SECRET = 'Zk9/+canary~Value=42&more?"quoted"'

function knowing(...values: readonly string[]): Secrets {
  const secrets = new Secrets()
  for (const value of values) secrets.protect(value)
  return secrets
}

describe('engine/store/redaction', () => {
  it('hides a known value in every form it is written in', () => {
    const secrets = knowing(SECRET)
    const base64 = (before: string): string => Buffer.from(`${before}${SECRET}`).toString('base64')
    const forms = {
      plain: SECRET,
      percent: encodeURIComponent(SECRET),
      'percent in lower case': encodeURIComponent(SECRET).replaceAll(/%../g, (escape) => escape.toLowerCase()),
      escaped: JSON.stringify(SECRET).slice(1, -1),
    }
    for (const [name, form] of Object.entries(forms)) {
      expect(secrets.scrub(`before ${form} after ${form}`), name).to.equal(`before ${HIDDEN} after ${HIDDEN}`)
    }
    for (const before of ['', 'u:', 'me:', 'abc']) {
      for (const text of [base64(before), base64(before).replaceAll('+', '-').replaceAll('/', '_')]) {
        // At most the letters that also hold bits of the neighbours stay.
        expect(secrets.scrub(text).replace(HIDDEN, '').length, text).to.be.at.most(before.length * 2 + 5)
      }
    }
  })

  it('hides a value in a text that was clean before it was known', () => {
    const secrets = knowing()
    expect(secrets.scrub(SECRET)).to.equal(SECRET)
    secrets.protect(SECRET)
    expect(secrets.scrub(SECRET)).to.equal(HIDDEN)
  })

  it('hides any part of twelve characters, and nothing of a shorter one', () => {
    const secrets = knowing('abcdefghijklmnopqrstuvwxyz0123456789')
    expect(secrets.scrub('<fghijklmnopq>')).to.equal(`<${HIDDEN}>`)
    expect(secrets.scrub('<fghijklmnop>')).to.equal('<fghijklmnop>')
    expect(secrets.scrub('abcdefghijklmnopqrstuv…')).to.equal(`${HIDDEN}…`)
  })

  it('hides a part at any place of a text, also beside the beginnings of others', () => {
    const value = 'abcdefghijklmnopqrstuvwxyz0123456789'
    const secrets = knowing(value)
    const part = fc.tuple(fc.nat(value.length - 12), fc.integer({ min: 12, max: 20 }))
    const between = fc.string({ unit: fc.constantFrom(' ', 'a', 'abc', 'rst', '789', '<', 'é'), maxLength: 24 })
    const sequence = fc.array(fc.tuple(between, part), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(sequence, between, (written, after) => {
        const text = written.map(([before, [at, length]]) => `${before}|${value.slice(at, at + length)}|`).join('')
        expect(secrets.scrub(text + after)).to.equal(
          `${written.map(([before]) => `${before}|${HIDDEN}|`).join('')}${after}`,
        )
      }),
    )
  })

  it('hides short values whole, and leaves words alone', () => {
    const secrets = knowing('tiny-key', 'word')
    expect(secrets.scrub('a tiny-key and a word')).to.equal(`a ${HIDDEN} and a word`)
  })

  it('hides the password of a URL, as written and decoded', () => {
    const secrets = new Secrets()
    secrets.protectUrl('postgres://me:p%40ssword-one@host:5432/name')
    expect(secrets.scrub('p%40ssword-one p@ssword-one')).to.equal(`${HIDDEN} ${HIDDEN}`)
    secrets.protectUrl('postgres://host/name')
    secrets.protectUrl('postgres://me:bad%escape%zz@host/name')
    expect(secrets.scrub('at bad%escape%zz.')).to.equal(`at ${HIDDEN}.`)
  })

  it('finds the credentials of an address', () => {
    const table: readonly (readonly [string, readonly string[]])[] = [
      ['postgres://postgres@host/db', []],
      ['https://sk_live_0123456789ab@host/v1', ['sk_live_0123456789ab']],
      ['https://me:pass:word@host:8080/v1?x=1#f', ['pass:word', '1']],
      ['https://host/v1?key=a%20b==&api-version=2024-10-21', ['a%20b==', 'a b==']],
      ['https://host/path@v1', []],
      ['no address', []],
    ]
    for (const [address, credentials] of table)
      expect([...new Set(credentialsOf(address))], address).to.deep.equal(credentials)
  })

  it('finds what is secret in an address that is itself a secret, and leaves its host and words alone', () => {
    const table: readonly (readonly [string, readonly string[] | undefined])[] = [
      ['https://hooks.slack.com/services/T0123/B0123/abcDEF', ['T0123', 'B0123', 'abcDEF']],
      ['https://discord.com/api/webhooks/1234/a%20B', ['1234', 'a%20B', 'a B']],
      ['https://host/hook', []],
      ['https://ntfy.sh/opsalertsxkqjzv', ['opsalertsxkqjzv']],
      ['https://ntfy.sh/opsalertsxkqjzv/', ['opsalertsxkqjzv']],
      ['https://host/opsalerts/notifications', []],
      ['https://host/services/incoming-webhook', []],
      ['http://me:word@host/webhook?sig=abc', ['word', 'abc']],
      ['postgres://me:word@host/db', undefined],
      ['a text', undefined],
    ]
    for (const [address, found] of table) {
      const secrets = secretsOfAddress(address)
      expect(secrets && [...new Set(secrets)], address).to.deep.equal(found)
    }
  })

  it('tells headers that say what is sent from those that say who sends it', () => {
    const plain = [
      ['Accept', 'application/json, text/event-stream'],
      ['x-kind', 'application/json; charset=utf-8'],
      ['x-since', '2024-10-21'],
      ['vendor-version', 'v2-of-this-year'],
      ['vendor-beta', 'long-context-2025'],
      ['User-Agent', 'sluice/1.0 (internal)'],
    ] as const
    const secret = [
      ['authorization', 'Bearer abcdefgh'],
      ['x-organization', 'org-AbC123xyz'],
      ['x-tenant', 'application-json'],
      ['x-since', '2024-10-21-abcdef'],
    ] as const
    expect(plain.filter(([name, value]) => !isPlain(name, value))).to.deep.equal([])
    expect(secret.filter(([name, value]) => isPlain(name, value))).to.deep.equal([])
  })

  it('hides what looks like a secret though nobody registered it', () => {
    const secrets = new Secrets()
    const table: readonly (readonly [string, string])[] = [
      ['Incorrect API key provided: sk-proj-abcDEF123_-x.', `Incorrect API key provided: sk-${HIDDEN}.`],
      ['authorization: Bearer abc.def-123', `authorization: Bearer ${HIDDEN}`],
      // Letters alone, which are a secret where a header shows one.
      ['authorization: Bearer opensesame', `authorization: Bearer ${HIDDEN}`],
      ['sent Basic dXNlcjpwYXNz0w==', `sent Basic ${HIDDEN}`],
      ['cannot reach redis://me:hunter2@host:6379/0', `cannot reach redis://me:${HIDDEN}@host:6379/0`],
      ['GET /v1/models?key=abc&x=1', `GET /v1/models?key=${HIDDEN}&x=1`],
      ['{"headers":{"x-api-key":"abcdef123"}}', `{"headers":{"x-api-key":"${HIDDEN}"}}`],
      ['"{\\"api_key\\":\\"abcdef123\\"}"', `"{\\"api_key\\":\\"${HIDDEN}\\"}"`],
      ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', `eyJ${HIDDEN}`],
    ]
    for (const [text, clean] of table) expect(secrets.scrub(text)).to.equal(clean)
  })

  it('leaves ordinary text as it is', () => {
    const secrets = knowing(SECRET)
    const texts = [
      'basic understanding of a bearer of risk-averse task-lists',
      "Unexpected token '}' at line 3; max_tokens: 100000; the key of the matter",
      'password authentication failed for user "postgres"',
      'https://host:8080/v1/models?limit=20@2',
      '0190c2f4-7b1e-7abc-8def-0123456789ab',
      'Send it as "authorization: Bearer <key>" or as "x-api-key: <key>".',
    ]
    for (const text of texts) expect(secrets.scrub(text)).to.equal(text)
  })

  it('knows the names of fields that hold secrets', () => {
    const secret = [
      'Authorization',
      'X-API-Key',
      'apiKey',
      'OPENAI_API_KEY',
      'key',
      'refresh_token',
      'clientSecret',
      'Set-Cookie',
      'password',
    ]
    const plain = ['keyId', 'inputTokens', 'max_tokens', 'monkey', 'author', 'keys', 'cookies_accepted']
    expect(secret.filter((name) => !isSecretName(name))).to.deep.equal([])
    expect(plain.filter((name) => isSecretName(name))).to.deep.equal([])
  })

  it('redacts JSON at any depth, in names and values, and changes nothing else', () => {
    const secrets = knowing('canary-canary-canary')
    const value = {
      a: [{ b: { 'X-Api-Key': 'x', c: 'say canary-canary-canary', d: 1 } }],
      token: null,
      'canary-canary-canary': true,
      secret: { e: 1 },
    }
    expect(secrets.redact(value)).to.deep.equal({
      a: [{ b: { 'X-Api-Key': HIDDEN, c: `say ${HIDDEN}`, d: 1 } }],
      token: null,
      [HIDDEN]: true,
      secret: HIDDEN,
    })
    expect(Object.keys(secrets.redact(JSON.parse('{"__proto__":{"x":1}}')) as object)).to.deep.equal(['__proto__'])
  })

  it('lets no part of a secret through, whatever stands around it', () => {
    const printable = fc.string({ unit: 'binary-ascii', minLength: 12, maxLength: 60 })
    fc.assert(
      fc.property(printable, fc.string(), fc.string(), (secret, before, after) => {
        const text = knowing(secret).scrub(before + secret + after)
        for (let at = 0; at + 12 <= secret.length; at += 1) {
          const part = secret.slice(at, at + 12)
          if (!HIDDEN.includes(part) && !(before + after).includes(part)) expect(text).not.to.include(part)
        }
      }),
    )
  })

  it('hides a token of JSON by its first part alone', () => {
    const secrets = new Secrets()
    expect(secrets.scrub('the token eyJhbGciOiJIUzI1NiJ9 was cut')).to.equal(`the token eyJ${HIDDEN} was cut`)
  })

  it('takes time in proportion to the length of a text, whatever is repeated in it', () => {
    const secrets = knowing(SECRET, 'tiny-key')
    const pieces = [
      'eyJ',
      '-',
      '.',
      'sk-',
      'Bearer ',
      ' ',
      '://',
      ':',
      '@',
      '?key=',
      'token',
      '"',
      '\\',
      '=',
      'a1',
      '/',
    ]
    const known = [
      'eyJ-',
      'eyJaaaaaaaa.',
      'eyJ.',
      'Bearer aaaaaaaa',
      '://a:',
      '://',
      'token"',
      'token  ',
      '?key',
      SECRET,
    ]
    const unit = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(unit, (repeated) => {
        // Sixteen times the text: sixteen times the work, or 256 times where the work grows with the square.
        const ratio = workRatio((text) => secrets.scrub(text), repeated, { length: 4_000, times: 16 })
        expect(ratio, JSON.stringify(repeated)).to.be.below(100)
      }),
      { numRuns: 60, examples: known.map((text) => [text]) },
    )
  })
})
