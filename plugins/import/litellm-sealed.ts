import { createDecipheriv, hash } from 'node:crypto'
import { openSecretbox } from './secretbox.ts'

/** What became of a text that may be sealed. */
export type Opened = { readonly text: string } | 'unopened'

const prefix = 'v2:gcm:'
/** Bytes of a sealed text beside the text: a nonce and a tag. */
const beside = { gcm: 12 + 16, box: 24 + 16 } as const
/** A database that is larger than any credential. */
const mostCharacters = 1_000_000

/** Opens what LiteLLM sealed with a salt key; without one, nothing sealed is opened. Texts that are not sealed stay as they are. */
export function opener(saltKey: string | undefined): (text: string) => Opened {
  const key = saltKey === undefined ? undefined : hash('sha256', saltKey, 'buffer')
  return (text) => {
    if (text.length > mostCharacters) return 'unopened'
    if (text.startsWith(prefix)) {
      const bytes = Buffer.from(text.slice(prefix.length), 'base64url')
      return (key && openGcm(bytes, key)) ?? 'unopened'
    }
    if (!/^[A-Za-z0-9+/_-]{54,}={0,2}$/.test(text)) return { text }
    const bytes = Buffer.from(text, 'base64url')
    const opened =
      key && bytes.length >= beside.box ? openSecretbox(bytes.subarray(24), bytes.subarray(0, 24), key) : undefined
    if (opened) return { text: opened.toString('utf8') }
    // A word of this form may be a name that nobody sealed; taking it for sealed keeps it out of every file.
    return bytes.length >= beside.box ? 'unopened' : { text }
  }
}

function openGcm(bytes: Buffer, key: Buffer): Opened | undefined {
  if (bytes.length < beside.gcm) return undefined
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
    decipher.setAuthTag(bytes.subarray(-16))
    const text = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
    return { text: text.toString('utf8') }
  } catch (error) {
    // The tag does not fit: it was sealed with another key.
    if (error instanceof Error) return undefined
    throw error
  }
}
