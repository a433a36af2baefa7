import { defineService } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { estimate, tokensOf } from './estimate.ts'
import { gatherItems } from './gather-items.ts'
import { gather } from './gather.ts'

/** Tokens that nobody has told, estimated so that there are hardly more of them. */
interface Tokens {
  /** Of so many bytes of UTF-8. */
  ofBytes(bytes: number): number
  /** Of the texts and media of a request of `protocol`. */
  ofRequest(protocol: string, body: JsonObject): number
}

declare module '../../engine/index.ts' {
  interface Services {
    tokens: Tokens
  }
}

const view: Tokens = {
  ofBytes: tokensOf,
  ofRequest(protocol, { messages, ...rest }) {
    const { texts, media } =
      protocol === 'messages'
        ? gather({ messages: messages ?? null, ...rest })
        : gatherItems({ input: messages ?? null, ...rest })
    return texts.reduce((sum, text) => sum + estimate(text), media)
  },
}

/** What has no state and no settings, for the stages of other plugins. */
export default defineService({
  name: 'tokens',
  summary: 'Estimates the tokens of what no provider has counted.',
  open: () => ({ configure: () => ({ view }) }),
})
