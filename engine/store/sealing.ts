import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { StartError, codeOf } from './location.ts'

/** Seals what leaves the gateway and is to come back: nobody else can read it, change it or make it. */
export interface Sealing {
  readonly seal: (bytes: Uint8Array, context: string) => Buffer
  /** Undefined for what was not sealed by the same master secret under the same context. */
  readonly unseal: (sealed: Uint8Array, context: string) => Buffer | undefined
}

/** Where the master secret comes from. */
export interface SecretSource {
  /** The secret itself, of at least 16 characters; else it is in `file`, which is made when it is needed first. */
  readonly given: string | undefined
  readonly file: string
  /** Hears the secret before it is used. */
  readonly protect: (secret: string) => void
  /** Hears of a file that others may read too. */
  readonly log: Pick<Logger, 'warn'>
}

/** Least characters of a master secret. */
const SHORTEST = 16

const VERSION = 1
const NONCE = 12
const TAG = 16
const HEAD = 1 + NONCE + TAG

/**
 * Sealing with AES-256-GCM (NIST SP 800-38D) under a key of its own for each context (HKDF, RFC 5869). What is sealed:
 * a version byte, the nonce, the tag, the text. Throws a `StartError` when the secret that was given is too short.
 */
export function openSealing(source: SecretSource): Sealing {
  if (source.given !== undefined) source.protect(accepted(source.given, 'SLUICE_SECRET'))
  let secret = source.given
  const keyFor = (context: string): Buffer => {
    if (secret === undefined) {
      secret = secretIn(source)
      source.protect(secret)
    }
    return Buffer.from(hkdfSync('sha256', secret, '', `sluice seal ${VERSION}\0${context}`, 32))
  }
  return {
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
        // The tag does not fit: node:crypto says so by an error without a code.
        return undefined
      }
    },
  }
}

/** The secret in a file, which is made where there is none. Processes that make it at the same time agree on one. */
function secretIn({ file, log }: SecretSource): string {
  if (!existsSync(file)) make(file)
  // Where files have no such mode, it says that all may read them.
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
    log.warn({ file }, 'the file of the master secret can be read by others: take their access away')
  return accepted(readFileSync(file, 'utf8').trim(), file)
}

/** The whole file appears at once under its name, or not at all: nobody reads half a secret. */
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
