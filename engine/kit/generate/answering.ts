import { GatewayError } from '../../spec/error.ts'
import type { Operation } from '../../spec/operation.ts'
import type {
  AnswerContent,
  Answering,
  EventHandler,
  EventMap,
  Gate,
  Look,
  Upstream,
  UpstreamAnswer,
} from '../../spec/slots.ts'

/**
 * The answer of a provider, or of a stage that answers in its place. In the latter case, `{ kind: 'neutral-reply',
 * reply }` reaches clients of any protocol.
 */
export function answering<C extends AnswerContent>(operation: Operation, content: C): C & Answering {
  return Object.assign(new HandledAnswer(operation), content)
}

/**
 * Whether the provider's bytes are relayed unchanged: both sides speak the same protocol, and no stage changes the
 * content.
 */
export function answerOnByteLane({ same }: Upstream, { handlers }: UpstreamAnswer): boolean {
  return same && handlers.every(looks)
}

function looks(handler: EventHandler): boolean {
  return 'look' in handler
}

const none: readonly EventHandler[] = []

class HandledAnswer implements Answering {
  readonly operation: Operation
  readonly handlers = none

  constructor(operation: Operation) {
    this.operation = operation
  }

  map(make: () => EventMap): UpstreamAnswer {
    return this.#with({ make })
  }

  watch(look: Look): UpstreamAnswer {
    return this.#with({ look })
  }

  gate(make: () => Gate, options?: { readonly before?: 'reply' }): UpstreamAnswer {
    return this.#with({ ...options, gate: make })
  }

  shown(make: () => EventMap): UpstreamAnswer {
    return this.#with({ make, shown: true })
  }

  #with(handler: EventHandler): UpstreamAnswer {
    const { operation, handlers } = this
    if (operation !== 'generate')
      throw new GatewayError('unsupported', { reason: `an answer of the operation "${operation}" has no events` })
    return Object.assign(new HandledAnswer(operation), this as Answering as UpstreamAnswer, {
      handlers: [...handlers, handler],
    })
  }
}
