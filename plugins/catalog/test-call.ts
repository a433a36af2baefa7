import type { Candidate, Host, ModelRecord, Offer, OpenProvider, Scope } from '../../engine/index.ts'
import { asking } from '../../engine/kit.ts'
import type { Question } from '../../engine/kit.ts'

/** Maximum milliseconds for the call. */
const deadline = 55_000

/** The result of a test of a provider. */
export interface Tested {
  /** The status of the upstream's answer; null if there was none. */
  readonly status: number | null
  readonly error: { readonly code: string; readonly message: string } | null
  /** `models`: the model list; otherwise the operation that was called. */
  readonly checked: string
}

/** Calls a model once, through a pipeline that tries candidates. */
export async function testCall(
  open: OpenProvider,
  model: ModelRecord,
  { pipeline, host, scope }: { readonly pipeline: string; readonly host: Host; readonly scope: Scope },
): Promise<Tested> {
  const question = questions.find(({ operation }) => offerFor(operation, open, model) !== undefined)
  const offer = question && offerFor(question.operation, open, model)
  if (question === undefined || offer === undefined) {
    const message = 'Only answers, decisions and embeddings can be tested with a call.'
    return { status: null, error: { code: 'invalid_reference', message }, checked: 'none' }
  }
  let status: number | null = null
  const candidate: Candidate = { model, provider: open, offer, origin: `${open.name}/test` }
  const candidates = [heard(candidate, (heardStatus) => (status = heardStatus))]
  const ingress = asking(question.ask(model.name))
  const { outcome } = await host.dispatch(pipeline, { ingress, candidates }, scope, { deadline })
  const { error } = outcome
  return {
    status: status ?? (error ? null : 200),
    error: error ? { code: error.code, message: error.message } : null,
    checked: question.operation,
  }
}

/** A candidate whose upstream's statuses are told. */
function heard(candidate: Candidate, tell: (status: number) => void): Candidate {
  const { provider } = candidate.provider
  const send = provider.send?.bind(provider)
  if (send === undefined) return candidate
  const telling: typeof send = async (sent) => {
    const answer = await send(sent)
    tell(answer.status)
    return answer
  }
  return { ...candidate, provider: { ...candidate.provider, provider: { ...provider, send: telling } } }
}

interface Asked {
  readonly operation: Offer['operation']
  readonly ask: (model: string) => Question
}

/** The smallest request of each operation, in the order of preference. */
const questions: readonly Asked[] = [
  {
    operation: 'generate',
    ask: (model) => ({
      protocol: 'messages',
      body: { model, max_tokens: 16, messages: [{ role: 'user', content: 'Say hello.' }] },
    }),
  },
  {
    operation: 'decide',
    ask: (model) => ({
      protocol: 'decisions',
      body: {
        model,
        input: 'The sky is blue.',
        questions: [{ type: 'predicate', instructions: 'Does the text name a colour?' }],
      },
    }),
  },
  { operation: 'embed', ask: (model) => ({ protocol: 'embeddings', body: { model, input: 'Hello.' } }) },
]

/** The offer of a provider for an operation: the first that the model may use. */
function offerFor(
  operation: Offer['operation'],
  { offers }: OpenProvider,
  { protocols }: ModelRecord,
): Offer | undefined {
  return offers.find(
    (offer) =>
      offer.operation === operation &&
      (offer.protocol === undefined || protocols === undefined || protocols.includes(offer.protocol)),
  )
}
