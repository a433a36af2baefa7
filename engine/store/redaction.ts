/** What stands in place of a secret. */
export const HIDDEN = '[redacted]'

/** A part of a secret this long is hidden wherever it appears. */
const WINDOW = 12

/** Shorter values are words of the language rather than secrets; hiding them would make every text unreadable. */
const SHORTEST = 8

/**
 * Secrets by the look of the text around them, for those nobody registered. `$1` stays. Only the last run of each is
 * without a bound, and nothing after it can fail: a text is read once, whatever stands in it.
 */
const PATTERNS: readonly RegExp[] = [
  /\b((?:Bearer|Basic)\s{1,8})(?=[\w.~+/=-]{0,64}\d)[\w.~+/=-]{8,}/gi,
  /\b(sk-)[\w-]{6,}/g,
  /\b(eyJ)[\w-]{8,}(?:\.[\w-]*){0,4}/g,
  /(:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,1024}(?=@)/g,
  /([?&](?:api[-_]?)?(?:key|token|secret|password)=)[^\s&"'#]+/gi,
  /((?:authorization|api[-_]?key|secret|password|token|cookie)["'\\]{0,8}\s{0,8}[:=]\s{0,8}["'\\]{0,8}(?:(?:Bearer|Basic)\s{1,8})?)(?!(?:Bearer|Basic)\s)[^\s"'\\,;&}]{6,}/gi,
]

/** What every text that one of them fits holds; most ids and words do not. */
const LOOKED_AT = /[\s=:]|sk-|eyJ/

/** Texts found clean that are remembered, and the longest of them: names of models and words of errors come again and again. */
const REMEMBERED = 1_000
const REMEMBERED_LENGTH = 128

const NAMES = new Set([
  'authorization',
  'proxyauthorization',
  'key',
  'credentials',
  'cookie',
  'setcookie',
  'passphrase',
])

/**
 * Knows secret values and hides them in text: whole, in parts of twelve characters, percent-encoded and in base64 at any
 * offset; and beside them whatever looks like a secret.
 */
export class Secrets {
  readonly #short = new Set<string>()
  readonly #parts = new Set<string>()
  /** Marks the first three characters of every part, so that almost every place of a text is passed over cheaply. */
  readonly #starts = new Uint8Array(65_536)
  /** Texts that hold no secret, until there is a further one. */
  readonly #clean = new Set<string>()

  /** Registers a secret. Values under eight characters are left alone. */
  protect(value: string): void {
    if (value.length < SHORTEST) return
    this.#clean.clear()
    for (const form of formsOf(value)) {
      if (form.length < SHORTEST) continue
      if (form.length < WINDOW) this.#short.add(form)
      for (let at = 0; at + WINDOW <= form.length; at += 1) {
        this.#parts.add(form.slice(at, at + WINDOW))
        this.#starts[startOf(form, at)] = 1
      }
    }
  }

  /** Registers the credentials of an address such as a database's. */
  protectUrl(url: string): void {
    for (const credential of credentialsOf(url)) this.protect(credential)
  }

  /** The text with every secret hidden. */
  scrub(text: string): string {
    if (this.#clean.has(text)) return text
    const scrubbed = this.#scrubbed(text)
    if (scrubbed === text && text.length <= REMEMBERED_LENGTH) {
      if (this.#clean.size === REMEMBERED) this.#clean.clear()
      this.#clean.add(text)
    }
    return scrubbed
  }

  #scrubbed(text: string): string {
    let clean = this.#scrubParts(text)
    for (const value of this.#short) clean = clean.replaceAll(value, HIDDEN)
    if (!LOOKED_AT.test(clean)) return clean
    for (const pattern of PATTERNS) clean = clean.replace(pattern, `$1${HIDDEN}`)
    return clean
  }

  /** A JSON value with secrets hidden in every name and text, and whole where a field's name says that it is one. */
  redact(value: unknown): unknown {
    if (typeof value === 'string') return this.scrub(value)
    if (Array.isArray(value)) return value.map((item) => this.redact(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        this.scrub(name),
        isSecretName(name) && field !== null ? HIDDEN : this.redact(field),
      ]),
    )
  }

  #scrubParts(text: string): string {
    let clean = ''
    let kept = 0
    let end = -1
    for (let at = 0; at + WINDOW <= text.length; at += 1) {
      if (this.#starts[startOf(text, at)] === 0 || !this.#parts.has(text.slice(at, at + WINDOW))) continue
      if (at > end) clean += text.slice(kept, at) + HIDDEN
      end = at + WINDOW
      kept = end
    }
    return clean + text.slice(kept)
  }
}

/** Whether a field of this name holds a secret, in any case and spelling: `X-Api-Key`, `refresh_token`, `clientSecret`. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '')
  return NAMES.has(plain) || /(apikey|token|secret|password|privatekey)$/.test(plain)
}

function startOf(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & 0xffff
}

/** The ways a value is written in logs, bodies and addresses. */
function formsOf(value: string): readonly string[] {
  const percent = encodeURIComponent(value.toWellFormed())
  const lower = percent.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
  const texts = [value, percent, lower, percent.replaceAll('%20', '+'), JSON.stringify(value).slice(1, -1)]
  const coded = [0, 1, 2].map((offset) => base64At(value, offset))
  return [...new Set([...texts, ...coded, ...coded.map(urlSafe)])]
}

/** The characters that base64 writes for a value which stands `offset` bytes into its text, whatever is around it. */
function base64At(value: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)])
  return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6))
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_')
}

/** A user that stands without a password and has as many characters is a token. */
const tokenLength = 16

/** The credentials in an address, as written and decoded: its password, or a token as its user, and its query's values. */
export function credentialsOf(address: string): readonly string[] {
  const begin = address.indexOf('://') + 3
  if (begin < 3) return []
  const [place = '', query = ''] = address.slice(begin).split('#', 1)[0]?.split('?', 2) ?? []
  const authority = place.split('/', 1)[0] ?? ''
  const [user = '', ...password] = authority.slice(0, Math.max(0, authority.lastIndexOf('@'))).split(':')
  const token = password.length === 0 && user.length >= tokenLength ? [user] : []
  const values = query.split('&').flatMap((parameter) => {
    const [name = '', ...value] = parameter.split('=')
    return isPlain(name, value.join('=')) ? [] : [value.join('=')]
  })
  return [password.join(':'), ...token, ...values].flatMap((text) => (text === '' ? [] : [text, decoded(text)]))
}

/** Names of headers and parameters that say what is sent or by which software, never by whom. */
const PLAIN_NAMES = new Set([
  'accept',
  'accept-language',
  'from',
  'http-referer',
  'origin',
  'referer',
  'user-agent',
  'via',
])
const PLAIN_ENDS = ['-version', '-beta', '-title', '-region']
/** A media type, or a date as versions have it. */
const PLAIN_VALUE =
  /^(?:(?:application|audio|image|text|video|\*)\/[a-z.+*-]{1,64}(?:; ?charset=[\w-]{1,16})?|\d{4}-\d\d-\d\d)$/i

/** Whether the value of a header or a parameter is no secret although it is sent with every request. */
export function isPlain(name: string, value: string): boolean {
  const lower = name.toLowerCase()
  return PLAIN_NAMES.has(lower) || PLAIN_ENDS.some((end) => lower.endsWith(end)) || PLAIN_VALUE.test(value)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}
