import { randomBytes } from 'node:crypto'
import { GatewayError } from '../../engine/index.ts'
import { normal } from './password.ts'

/** Maximum characters of a password. */
const longest = 256

/** JSON Schema of a password in a body. The rules for new ones are in `checkPassword`: they depend on the settings. */
export const passwordSchema = { type: 'string', title: 'Password', maxLength: 4 * longest } as const

/** Who chooses a password, and where it stands in the body. */
interface Choice {
  readonly username: string
  /** Minimum characters. */
  readonly least: number
  readonly param: string
}

/**
 * Rejects with `invalid_field` for a password that is too short, too long or easy to guess. Its characters are counted
 * after normalization (NFKC).
 */
export async function checkPassword(password: string, choice: Choice): Promise<void> {
  const reason = await problemOf(normal(password), choice)
  if (reason !== undefined) throw new GatewayError('invalid_field', { param: choice.param, reason })
}

async function problemOf(password: string, { username, least }: Choice): Promise<string | undefined> {
  // Hashing would take every lone surrogate for the same character.
  if (!password.isWellFormed()) return 'must not contain half of a character (a lone surrogate)'
  const characters = new Set(password)
  const { length } = Array.from(password)
  const text = password.toLowerCase()
  if (length < least || length > longest) return `must have ${least} to ${longest} characters`
  if (characters.size === 1) return 'must not repeat one character'
  if (text.includes(username.toLowerCase())) return 'must not contain the username'
  // Loaded with the first new password: few processes ever get one.
  const { commonPasswords } = await import('./common-passwords.ts')
  return commonPasswords.has(text) ? 'must not be one of the commonest passwords' : undefined
}

/** A random password that a person can copy: 24 characters, of which nobody guesses 144 bits. */
export function randomPassword(): string {
  return randomBytes(18).toString('base64url')
}
