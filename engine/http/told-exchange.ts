import type { Bag } from '../pipeline/bag.ts'
import type { Eventual } from '../pipeline/later.ts'
import type { CompiledPipeline } from '../pipeline/run.ts'
import type { Outcome } from '../spec/slots.ts'
import type { ToldExchange } from '../spec/telling.ts'
import { exchanges, toldError } from '../telling/telling.ts'
import type { ExchangeScope } from './scope.ts'

/** Runs an exchange and reports its start and end. */
export async function tellExchange<E extends { readonly outcome: Outcome }>(
  { name }: CompiledPipeline,
  slots: Bag,
  scope: ExchangeScope,
  run: () => Eventual<E>,
): Promise<E> {
  const message = begun(name, slots, scope)
  const over = exchanges.begin(message)
  scope.trace = message.trace
  try {
    const ended = await run()
    const { error } = ended.outcome
    over(
      error && { code: error.code, ...(error.at === undefined ? {} : { at: error.at }) },
      known(slots, ended.outcome),
    )
    return ended
  } catch (thrown) {
    over(toldError(thrown))
    throw thrown
  }
}

function begun(pipeline: string, { ingress }: Bag, { id, parent, trace }: ExchangeScope): ToldExchange {
  return {
    id,
    pipeline,
    ...(parent === undefined ? {} : { parent }),
    ...(ingress ? { transport: ingress.transport, method: ingress.method, path: ingress.path } : {}),
    ...(trace === undefined ? {} : { trace }),
  }
}

/** What is known about an exchange at its end. */
function known(slots: Bag, { status, result, bytes, firstByte }: Outcome): Partial<ToldExchange> {
  const { principal, request, model, bill } = slots
  return {
    status,
    result,
    bytes,
    ...(firstByte === undefined ? {} : { firstByte }),
    ...(principal?.kind === 'key' ? { key: { id: principal.id, name: principal.name } } : {}),
    ...(request ? { operation: request.operation, protocol: request.protocol, stream: request.stream } : {}),
    ...(model ? { model: model.model.name, provider: model.provider.name } : {}),
    ...(bill ? { bill } : {}),
  }
}
