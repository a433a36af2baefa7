import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { SecretFile, accepted } from './secret-file.ts'

/** Seals data that leaves the gateway and comes back, and derives keys: both from the master secret. */
export interface Sealing {
  /** Where the master secret stands. */
  readonly from: 'environment' | 'file'
  readonly seal: (bytes: Uint8Array, context: string) => Buffer
  /** Undefined for data that was not sealed with the same context, by this master secret or an earlier one. */
  readonly unseal: (sealed: Uint8Array, context: string) => Buffer | undefined
  /** A key of 32 bytes for one purpose, the same in every process with the master secret (HKDF-SHA-256 without salt). */
  readonly deriveKey: (info: string) => Buffer
  /** The file of the master secret. */
  readonly file: SecretFile
  /** The master secret itself. */
  readonly secret: () => string
  /** Whether the gateway has another master secret, which this process lacks. */
  readonly isOutdated: () => boolean
  /** Follows a rotation: takes the newest of the known master secrets, and opens what earlier ones sealed. */
  readonly follow: (known: readonly KnownSecret[]) => void
  /** Uses another master secret from now on. */
  readonly use: (secret: string) => void
}

/** What is stored about a master secret, so that processes notice another one. */
export interface KnownSecret {
  /** Tells secrets apart, and reveals nothing of them. */
  readonly mark: string
  /** The secret itself, sealed with the newest one and in base64; null: it is the newest one. */
  readonly sealed: string | null
}

/** The source of the master secret. */
export interface SecretSource {
  /** The secret itself, at least 16 characters; if undefined, it is read from `file`, which is created on first use. */
  readonly given: string | undefined
  /** What gave it, in sentences; default: `SLUICE_SECRET`. */
  readonly variable?: string
  readonly file: string
  /** Called with a secret before it is used. */
  readonly protect: (secret: string) => void
  /** Warns when others can read the file, and when the gateway has got another secret. */
  readonly log: Pick<Logger, 'warn'>
}

const VERSION = 1
const NONCE = 12
const TAG = 16
const HEAD = 1 + NONCE + TAG

/**
 * Seals with AES-256-GCM (NIST SP 800-38D) and one key per context (HKDF, RFC 5869). Sealed data consists of a version
 * byte, the nonce, the tag and the ciphertext. Throws a `StartError` when the given secret is too short.
 */
export function openSealing(source: SecretSource): Sealing {
  const { given, protect, log } = source
  if (given !== undefined) protect(accepted(given, where(source)))
  const file = new SecretFile(source.file, log)
  let current = given
  let earlier: readonly string[] = []
  let missing: string | undefined
  const use = (secret: string) => {
    if (secret === current) return
    protect(secret)
    current = secret
  }
  const secret = (): string => {
    if (current === undefined) use(file.read())
    return current as string
  }
  /** Secrets of the file that this process does not use; the file changes before every process has noticed. */
  const others = () => (given === undefined ? file.all().filter((one) => one !== current) : [])
  return {
    from: given === undefined ? 'file' : 'environment',
    file,
    secret,
    use,
    deriveKey: (info) => deriveKey(secret(), info),
    seal: (bytes, context) => sealWith(secret(), bytes, context),
    unseal(sealed, context) {
      for (const one of [secret(), ...earlier]) {
        const opened = unsealWith(one, sealed, context)
        if (opened) return opened
      }
      for (const one of others()) {
        const opened = unsealWith(one, sealed, context)
        if (opened === undefined) continue
        earlier = [secret(), ...earlier]
        use(one)
        return opened
      }
      return undefined
    },
    isOutdated: () => missing !== undefined,
    follow(known) {
      const newest = known.find(({ sealed }) => sealed === null)
      if (newest === undefined) return
      const found = [secret(), ...others()].find((one) => markOf(one) === newest.mark)
      if (found === undefined) {
        if (missing !== newest.mark) log.warn(`the master secret was rotated, and ${where(source)} is not the new one`)
        missing = newest.mark
        return
      }
      missing = undefined
      use(found)
      // A rotation that was killed after its commit has left the new secret beside the file.
      if (given === undefined) file.settle(found)
      earlier = known.flatMap(({ mark, sealed }) => {
        if (sealed === null) return []
        return unsealWith(found, Buffer.from(sealed, 'base64'), contextOfSecret(mark))?.toString() ?? []
      })
    },
  }
}

function where({ given, file, variable = 'SLUICE_SECRET' }: SecretSource): string {
  return given === undefined ? `the one in ${file}` : variable
}

/** Tells secrets apart, and reveals nothing of them. */
export function markOf(secret: string): string {
  return deriveKey(secret, 'sluice mark 1').toString('hex')
}

/** The context with which an earlier master secret is sealed. */
export function contextOfSecret(mark: string): string {
  return `master secret ${mark}`
}

export function deriveKey(secret: string, info: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', info, 32))
}

/** Seals with a master secret. */
export function sealWith(secret: string, bytes: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret, context), nonce, { authTagLength: TAG })
  cipher.setAAD(Buffer.from(context))
  const text = [cipher.update(bytes), cipher.final()]
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ...text])
}

/** Opens what `sealWith` sealed with the same secret and context; otherwise undefined. */
export function unsealWith(secret: string, sealed: Uint8Array, context: string): Buffer | undefined {
  if (sealed.byteLength < HEAD || sealed[0] !== VERSION) return undefined
  const nonce = sealed.subarray(1, 1 + NONCE)
  const cipher = createDecipheriv('aes-256-gcm', keyOf(secret, context), nonce, { authTagLength: TAG })
  cipher.setAAD(Buffer.from(context))
  cipher.setAuthTag(sealed.subarray(1 + NONCE, HEAD))
  const text = cipher.update(sealed.subarray(HEAD))
  try {
    return Buffer.concat([text, cipher.final()])
  } catch {
    // The tag does not match, which node:crypto reports by an error without a code.
    return undefined
  }
}

function keyOf(secret: string, context: string): Buffer {
  return deriveKey(secret, `sluice seal ${VERSION}\0${context}`)
}
