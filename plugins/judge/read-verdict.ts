import { defineStage, noConfig } from '../../engine/index.ts'
import type { Bill, Candidate, Measurement, Services } from '../../engine/index.ts'
import type { Consultation, Judgement } from './consultation.ts'
import { answerOf, failureOf, judgementOf } from './reading.ts'

/** Reads what the judge has said once its call is over, and notes in the row why it was asked and why it did not answer. */
export default defineStage({
  name: 'read-verdict',
  summary: 'Read the verdict of the judge, and note why it was asked.',
  config: noConfig,
  needs: ['outcome', 'consultation'],
  reads: ['request', 'model', 'upstream', 'answer', 'measurement', 'bill'],
  provides: ['judgement'],
  uses: ['judging', 'prices'],
  build:
    (_config, host, { judging, prices }) =>
    (slots, scope) => {
      const { outcome, consultation, model, measurement, bill } = slots
      const error = failureOf(outcome, scope)
      const said = error === undefined ? judgementOf(answerOf(slots, host)) : { error }
      const asked = scope.times.some(({ name }) => name === 'upstream')
      const judgement = { asked, ...said, ...usedOf(bill, { model, measurement }, prices) }
      if (consultation.isWarmUp) scope.note('warm', true)
      else tell(consultation)
      if (judgement.error !== undefined) scope.note('error', judgement.error)
      return { judgement }

      function tell({ shadow, gateFired, sampled, ensemble }: Consultation) {
        scope.note('shadow', shadow)
        scope.note('gate_fired', gateFired)
        scope.note('sampled', sampled)
        if (judgement.verdict) judging.keep(scope.id, { ensemble, verdict: judgement.verdict, shadow })
      }
    },
})

/** Tokens, and their cost: a judge is billed for its input alone. */
function usedOf(
  bill: Bill | undefined,
  { model, measurement }: { readonly model: Candidate | undefined; readonly measurement: Measurement | undefined },
  prices: Services['prices'],
): Pick<Judgement, 'inputTokens' | 'cost' | 'isCostTold'> {
  const { tokens } = bill ?? {}
  if (!tokens || !model) return {}
  const cost = prices.usdOf({ ...tokens, output: 0, reasoning: 0 }, model.model.pricing)
  const { input, cacheRead, cacheWrite } = tokens
  const told = cost === undefined ? measurement?.read().cost : undefined
  return {
    inputTokens: input + cacheRead + cacheWrite,
    ...(told === undefined ? { cost } : { cost: told, isCostTold: true }),
  }
}
