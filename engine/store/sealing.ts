import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { StartError, codeOf } from './location.ts'

/** Seals data that leaves the gateway and comes back, and derives keys: both from the master secret. */
export interface Sealing {
  /** Where the master secret stands. */
  readonly from: 'environment' | 'file'
  readonly seal: (bytes: Uint8Array, context: string) => Buffer
  /** Undefined for data that was not sealed with the same master secret and context. */
  readonly unseal: (sealed: Uint8Array, context: string) => Buffer | undefined
  /** A key of 32 bytes for one purpose, the same in every process with the master secret (HKDF-SHA-256 without salt). */
  readonly deriveKey: (info: string) => Buffer
}

/** The source of the master secret. */
export interface SecretSource {
  /** The secret itself, at least 16 characters; if undefined, it is read from `file`, which is created on first use. */
  readonly given: string | undefined
  readonly file: string
  /** Called with the secret before it is used. */
  readonly protect: (secret: string) => void
  /** Warns when others can read the file. */
  readonly log: Pick<Logger, 'warn'>
}

/** Minimum characters of a master secret. */
const SHORTEST = 16

const VERSION = 1
const NONCE = 12
const TAG = 16
const HEAD = 1 + NONCE + TAG

/**
 * Seals with AES-256-GCM (NIST SP 800-38D) and one key per context (HKDF, RFC 5869). Sealed data consists of a version
 * byte, the nonce, the tag and the ciphertext. Throws a `StartError` when the given secret is too short.
 */
export function openSealing(source: SecretSource): Sealing {
  if (source.given !== undefined) source.protect(accepted(source.given, 'SLUICE_SECRET'))
  let secret = source.given
  const deriveKey = (info: string): Buffer => {
    if (secret === undefined) {
      secret = secretIn(source)
      source.protect(secret)
    }
    return Buffer.from(hkdfSync('sha256', secret, '', info, 32))
  }
  const keyFor = (context: string) => deriveKey(`sluice seal ${VERSION}\0${context}`)
  return {
    from: source.given === undefined ? 'file' : 'environment',
    deriveKey,
    seal(bytes, context) {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', keyFor(context), nonce, { authTagLength: TAG })
      cipher.setAAD(Buffer.from(context))
      const text = [cipher.update(bytes), cipher.final()]
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ...text])
    },
    unseal(sealed, context) {
      if (sealed.byteLength < HEAD || sealed[0] !== VERSION) return undefined
      const nonce = sealed.subarray(1, 1 + NONCE)
      const cipher = createDecipheriv('aes-256-gcm', keyFor(context), nonce, { authTagLength: TAG })
      cipher.setAAD(Buffer.from(context))
      cipher.setAuthTag(sealed.subarray(1 + NONCE, HEAD))
      const text = cipher.update(sealed.subarray(HEAD))
      try {
        return Buffer.concat([text, cipher.final()])
      } catch {
        // The tag does not match, which node:crypto reports by an error without a code.
        return undefined
      }
    },
  }
}

/**
 * The secret in a file, which is created if it is missing. Processes that create it at the same time agree on one
 * secret.
 */
function secretIn({ file, log }: SecretSource): string {
  if (!existsSync(file)) make(file)
  // Windows has no such modes, and reports that everyone can read the file.
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
    log.warn({ file }, 'other users can read the file of the master secret: restrict its permissions')
  return accepted(readFileSync(file, 'utf8').trim(), file)
}

/** Creates the file atomically: no process reads a partial secret. */
function make(file: string): void {
  const draft = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, file)
  } catch (error) {
    // Another process was first.
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function accepted(secret: string, where: string): string {
  if (secret.length < SHORTEST)
    throw new StartError(`the master secret in ${where} has fewer than ${SHORTEST} characters`)
  return secret
}
