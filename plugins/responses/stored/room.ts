import { GatewayError } from '../../../engine/index.ts'

/** Most bytes of JSON that a conversation may have once it is completed: as many as a body may have by itself. */
export const conversationLimit = 64 * 1024 * 1024

/** How much of what earlier requests have left one more request can be completed with. */
export class Room {
  #left: number

  /** `taken`: bytes that the request has brought itself. */
  constructor(taken: number) {
    this.#left = conversationLimit - taken
  }

  get left(): number {
    return Math.max(0, this.#left)
  }

  /** Makes place for so many bytes of JSON. Throws `request_too_large`. */
  take(bytes: number): void {
    this.#left -= bytes
    if (this.#left >= 0) return
    const message = `With what it refers to, the conversation is larger than ${conversationLimit} bytes.`
    throw new GatewayError('request_too_large', { limit: conversationLimit }, { message, param: 'input' })
  }
}
