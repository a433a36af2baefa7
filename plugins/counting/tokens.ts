import { defineService } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { estimate, tokensOf } from './estimate.ts'
import { gatherContents, gatherItems } from './gather-items.ts'
import { gather } from './gather.ts'

/** Estimates token counts that no provider reported. An estimate is rarely too low. */
interface Tokens {
  /** Tokens of a text of this many bytes of UTF-8. */
  ofBytes(bytes: number): number
  /** Tokens of the texts and media of a request in `protocol`. */
  ofRequest(protocol: string, body: JsonObject): number
}

declare module '../../engine/index.ts' {
  interface Services {
    tokens: Tokens
  }
}

const view: Tokens = {
  ofBytes: tokensOf,
  ofRequest(protocol, body) {
    const { texts, media } =
      protocol === 'messages'
        ? gather(body)
        : protocol === 'gemini'
          ? gatherContents(body)
          : gatherItems(body, body['messages'])
    let tokens = media
    for (const text of texts) tokens += estimate(text)
    return tokens
  },
}

/** A service without state or settings, for the stages of other plugins. */
export default defineService({
  name: 'tokens',
  summary: 'Estimates tokens that no provider has counted.',
  open: () => ({ configure: () => ({ view }) }),
})
