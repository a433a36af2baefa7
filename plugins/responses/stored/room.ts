import { GatewayError } from '../../../engine/index.ts'

/** Most bytes of JSON of a completed conversation: the same as of a body. */
export const conversationLimit = 64 * 1024 * 1024

/** The budget of bytes for completing one request with earlier turns. */
export class Room {
  #left: number

  /** `taken`: bytes of the request's own body. */
  constructor(taken: number) {
    this.#left = conversationLimit - taken
  }

  get left(): number {
    return Math.max(0, this.#left)
  }

  /** Reserves bytes of JSON. Throws `request_too_large`. */
  take(bytes: number): void {
    this.#left -= bytes
    if (this.#left >= 0) return
    const message = `With what it refers to, the conversation is larger than ${conversationLimit} bytes.`
    throw new GatewayError('request_too_large', { limit: conversationLimit }, { message, param: 'input' })
  }
}
