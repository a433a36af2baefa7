import { createHmac } from 'node:crypto'

/** Bytes of a key (Standard Webhooks, "Signature scheme"). */
const least = 24
const most = 64

/** The key of a secret: `whsec_` and base64, or any text of 24 bytes or more; undefined: it is too short, or too long. */
export function keyOf(secret: string): Buffer | undefined {
  if (!secret.startsWith('whsec_')) return Buffer.byteLength(secret) >= least ? Buffer.from(secret) : undefined
  const text = secret.slice('whsec_'.length)
  const key = Buffer.from(text, 'base64')
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(text)
  return isBase64 && key.length >= least && key.length <= most ? key : undefined
}

/** The headers that say what a body is, when it was sent, and by whom (Standard Webhooks 1.0). */
export function signed(
  id: string,
  body: string,
  { secret, at = Date.now() }: { readonly secret: string; readonly at?: number },
): Readonly<Record<string, string>> {
  const key = keyOf(secret)
  if (key === undefined) throw new Error('the secret of a target is too short')
  const timestamp = String(Math.floor(at / 1_000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
