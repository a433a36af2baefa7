/** The replacement for a secret. */
export const HIDDEN = '[redacted]'

/** Any part of a secret of this length is redacted. */
const WINDOW = 12

/** Shorter values are more likely common words than secrets; redacting them would make texts unreadable. */
const SHORTEST = 8

/**
 * Patterns for unregistered secrets, by the text around them. `$1` is kept. Only the last repetition of each pattern is
 * unbounded, and nothing after it can fail, so matching takes linear time.
 */
const PATTERNS: readonly RegExp[] = [
  /\b((?:Bearer|Basic)\s{1,8})(?=[\w.~+/=-]{0,64}\d)[\w.~+/=-]{8,}/gi,
  /\b(sk-)[\w-]{6,}/g,
  /\b(eyJ)[\w-]{8,}(?:\.[\w-]*){0,4}/g,
  /(:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,1024}(?=@)/g,
  /([?&](?:api[-_]?)?(?:key|token|secret|password)=)[^\s&"'#]+/gi,
  /((?:authorization|api[-_]?key|secret|password|token|cookie)["'\\]{0,8}\s{0,8}[:=]\s{0,8}["'\\]{0,8}(?:(?:Bearer|Basic)\s{1,8})?)(?!(?:Bearer|Basic)\s)[^\s"'\\,;&}]{6,}/gi,
]

/** Every text that matches one of the patterns also matches this; most ids and words do not. */
const LOOKED_AT = /[\s=:]|sk-|eyJ/

/** Maximum number of clean texts that are cached, and their maximum length: model names and error words recur often. */
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
 * Redacts registered secrets in texts: the whole value, parts of twelve characters, percent-encoded forms, and base64
 * at any offset. Also redacts everything that looks like a secret.
 */
export class Secrets {
  readonly #short = new Set<string>()
  readonly #parts = new Set<string>()
  /** Marks every three characters of every part: ten positions of a text are skipped where the last of them has none. */
  readonly #marks = new Uint8Array(65_536)
  /** Texts without secrets; cleared when a secret is registered. */
  readonly #clean = new Set<string>()

  /** Registers a secret. Values shorter than eight characters are ignored. */
  protect(value: string): void {
    if (value.length < SHORTEST) return
    this.#clean.clear()
    for (const form of formsOf(value)) {
      if (form.length < SHORTEST) continue
      if (form.length < WINDOW) this.#short.add(form)
      for (let at = 0; at + 3 <= form.length; at += 1) this.#marks[markOf(form, at)] = 1
      for (let at = 0; at + WINDOW <= form.length; at += 1) this.#parts.add(form.slice(at, at + WINDOW))
    }
  }

  /** Registers the credentials in an address, such as that of a database. */
  protectUrl(url: string): void {
    for (const credential of credentialsOf(url)) this.protect(credential)
  }

  /** The text with every secret redacted. */
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

  /**
   * A JSON value with secrets redacted in all names and texts. A field whose name marks it as a secret is redacted as a
   * whole.
   */
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
      // A part that begins at any of these positions holds the three characters at the last of them.
      const last = at + WINDOW - 3
      if (this.#marks[markOf(text, last)] === 0) at = last
      else if (this.#marks[markOf(text, at)] === 1 && this.#parts.has(text.slice(at, at + WINDOW))) {
        if (at > end) clean += text.slice(kept, at) + HIDDEN
        kept = end = at + WINDOW
      }
    }
    return clean + text.slice(kept)
  }
}

/**
 * Whether a field of this name holds a secret, in any case and spelling: `X-Api-Key`, `refresh_token`, `clientSecret`.
 */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '')
  return NAMES.has(plain) || /(apikey|token|secret|password|privatekey)$/.test(plain)
}

function markOf(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & 0xffff
}

/** The forms of a value in logs, bodies and addresses. */
function formsOf(value: string): readonly string[] {
  const percent = encodeURIComponent(value.toWellFormed())
  const lower = percent.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
  const texts = [value, percent, lower, percent.replaceAll('%20', '+'), JSON.stringify(value).slice(1, -1)]
  const coded = [0, 1, 2].map((offset) => base64At(value, offset))
  return [...new Set([...texts, ...coded, ...coded.map(urlSafe)])]
}

/** The base64 characters of a value at `offset` bytes in a text, independent of the text around it. */
function base64At(value: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)])
  return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6))
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_')
}

/** A user name without a password that has at least this length is a token. */
const tokenLength = 16

/**
 * The credentials in an address, as written and decoded: its password, or a token as its user name, and the values of
 * its query.
 */
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

/** Lower-case words, which stand in many paths. A token of this length has something else, too. */
const PLAIN_PART = /^[a-z._-]{0,20}$/
/** Words that end paths of webhooks. Whatever else stands at the end of one may be the name that nobody is to know. */
const PLAIN_END =
  /^(?:in|out|alert|api|bot|callback|channel|endpoint|event|hook|incoming|integration|message|notification|notify|service|sluice|trigger|web|webhook|workflow)s?$/

/**
 * What is secret in an address that is itself a secret, such as that of a webhook: its credentials, and the parts of its
 * path. Plain words are not, but the last part must be a common word or a short one. The host may stand in any text.
 * Undefined: it is no address of HTTP.
 */
export function secretsOfAddress(text: string): readonly string[] | undefined {
  const url = /^https?:/i.test(text) ? URL.parse(text) : null
  if (url === null) return undefined
  const all = url.pathname.split('/').filter((part) => part !== '')
  const isOpen = (part: string, at: number) =>
    PLAIN_PART.test(part) &&
    (at < all.length - 1 || part.length < SHORTEST || part.split(/[._-]/).every((word) => PLAIN_END.test(word)))
  const parts = all.filter((part, at) => !isOpen(part, at))
  return [...credentialsOf(text), ...parts.flatMap((part) => [part, decoded(part)])]
}

/** Names of headers and parameters that describe the content or the software, not the sender. */
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
/** A media type, or a date as in API versions. */
const PLAIN_VALUE =
  /^(?:(?:application|audio|image|text|video|\*)\/[a-z.+*-]{1,64}(?:; ?charset=[\w-]{1,16})?|\d{4}-\d\d-\d\d)$/i

/** Whether the value of a header or parameter is not a secret, although it is sent with every request. */
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

/** Whether a header of this name holds credentials, in any spelling: `X-Api-Key`, `Sec-WebSocket-Protocol`. */
export function hasCredentials(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '')
  return /auth|cookie|token|secret|password|credential|websocketprotocol|signature|key$/.test(plain)
}
