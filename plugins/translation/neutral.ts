import { GatewayError } from '../../engine/index.ts'
import { failed } from '../../engine/kit.ts'
import type {
  AnswerContent,
  Call,
  Candidate,
  Envelope,
  GenerateEvent,
  Operation,
  ReplyOf,
  RequestOf,
  Scope,
} from '../../engine/index.ts'

type Timeouts = Call['timeouts']

/** A provider's answer function in neutral form, for any operation. Only `generate` has events. */
type Respond = (
  request: RequestOf<Operation>,
  model: string,
  scope: Scope,
) => AsyncIterable<GenerateEvent> | Promise<ReplyOf<Operation>>

/** Calls a provider that answers the neutral request itself. Timeouts and aborts apply as for any other provider. */
export async function askNeutral(
  request: Envelope,
  { provider, model }: Candidate,
  scope: Scope,
  timeouts: Timeouts,
): Promise<AnswerContent> {
  const respond = provider.provider.answer?.[request.operation] as Respond | undefined
  if (!respond)
    throw new GatewayError('invalid_request_error', {
      model: model.name,
      reason: `its provider does not ${request.operation}`,
    })
  const deadline = performance.now() + timeouts.total
  const within = <T>(work: Promise<T>, limit: number) =>
    inTime(work, Math.min(limit, deadline - performance.now()), model.name, scope)
  const answer = respond(request.neutral(request.operation), model.upstream_model, scope)
  if (!(Symbol.asyncIterator in answer))
    return { kind: 'neutral-reply', reply: await within(answer, timeouts.firstByte) }
  const iterator = answer[Symbol.asyncIterator]()
  const first = await within(iterator.next(), timeouts.firstByte)
  if (first.done === true)
    throw new GatewayError(
      'upstream_invalid_response',
      { model: model.name, reason: 'the answer is empty' },
      { tags: ['invalid'] },
    )
  if (first.value.type === 'failure') throw failed(first.value)
  return {
    kind: 'neutral-events',
    events: resumed(first.value, iterator, () => within(iterator.next(), timeouts.idle)),
  }
}

async function* resumed(
  first: GenerateEvent,
  iterator: AsyncIterator<GenerateEvent>,
  advance: () => Promise<IteratorResult<GenerateEvent>>,
): AsyncGenerator<GenerateEvent> {
  try {
    yield first
    for (let next = await advance(); next.done !== true; next = await advance()) yield next.value
  } finally {
    // A provider that hangs would never return, so its clean-up is not awaited.
    void iterator.return?.().catch(() => undefined)
  }
}

/**
 * Resolves with `work`. Rejects with the reason if the exchange is aborted, and with `upstream_timeout` at the timeout.
 */
function inTime<T>(work: Promise<T>, milliseconds: number, model: string, scope: Scope): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const late = () => reject(new GatewayError('upstream_timeout', { model }, { tags: ['timeout'] }))
  const timer = setTimeout(late, Math.max(0, milliseconds))
  const forget = scope.onAbort(reject)
  work.then(resolve, reject)
  return promise.finally(() => {
    clearTimeout(timer)
    forget()
  })
}
