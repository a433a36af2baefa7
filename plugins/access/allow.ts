import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { asText, choicesIn, holds, recordNamed } from '../../engine/kit.ts'
import type { Candidate, Envelope, Host, Principal } from '../../engine/index.ts'

/**
 * Keeps the candidates whose model the key may use. The requested model must be one of them: access to its fallbacks is
 * not enough. The check uses the name of the model's own record, never an alias or a virtual name. A key may name a
 * pattern such as `vendor/*`. Further models that the request names, as `fallbacks` does, must be allowed, too.
 */
export default defineStage({
  name: 'allow',
  summary: 'Keep only candidates whose model, and every further model that the request names, the key may use.',
  config: noConfig,
  needs: ['principal', 'request', 'candidates'],
  reads: ['target'],
  provides: ['candidates'],
  pays: ['allow'],
  build:
    (_, host) =>
    ({ principal: { models }, request, target, candidates }) => {
      if (models === undefined) return { candidates }
      const allowed = candidates.filter(({ model }) => holds(models, model.name))
      // A virtual name stands for no model of its own, so any candidate is enough.
      const asked = target === undefined ? candidates[0]?.model : target.model
      const [first] = allowed
      if (first === undefined || (asked !== undefined && !holds(models, asked.name)))
        throw notAllowed(request.model, 'model')
      const free = allowed.filter((candidate) => strangerIn(request, candidate, models, host) === undefined)
      if (free.length === allowed.length) return { candidates: allowed }
      const stranger = strangerIn(request, first, models, host)
      if (stranger && (free.length === 0 || asked !== undefined)) throw notAllowed(stranger.name, stranger.param)
      return { candidates: free }
    },
})

/** The first further model that a request names at a candidate and that the key may not use. */
function strangerIn(
  request: Envelope,
  candidate: Candidate,
  models: NonNullable<Principal['models']>,
  host: Host,
): { readonly name: string; readonly param: string } | undefined {
  for (const { choice, param, value } of choicesIn(request, candidate.offer, host)) {
    if (choice.chooses !== 'model') continue
    const name = asText(value)
    const record = recordNamed(name, candidate, host.catalog)
    if (record === undefined || !holds(models, record.name)) return { name, param }
  }
  return undefined
}

function notAllowed(model: string, param: string): GatewayError {
  return new GatewayError('model_not_allowed', { model: model.slice(0, 128) }, { param })
}
