import { defineStage } from '../../engine/index.ts'
import { asking } from '../../engine/kit.ts'
import type { Given, JsonObject, Scope, Slots } from '../../engine/index.ts'
import { Affordability } from './affordability.ts'
import { Call, leftAlone } from './call.ts'
import type { Circumstances } from './call.ts'
import type { Consultation, Verdict } from './consultation.ts'
import { gateFor } from './gate.ts'
import { questionFor } from './question.ts'
import type { Seen } from './question.ts'
import { saysWhat } from './reading.ts'

type Around = Given<'request' | 'target' | 'ensemble' | 'shortlist', 'principal' | 'job' | 'preview'>

/** The judge is not asked: the signals stand. */
const unasked: Verdict = { notes: [], block: () => null }

/** How long the first call may take, for which the upstream may have to load the model, in milliseconds. */
const patience = 60_000

/** The configurations of which some place of the stage warms the judge up, each by its view of it. */
const warming = new WeakSet<object>()

/**
 * Asks the judge for the tier of a request for a virtual model. In shadow, nobody waits for its answer but the row of
 * the request. Whatever fails, the tier of the signals stands.
 */
export default defineStage({
  name: 'judge',
  summary: 'Ask the judge for the tier of a request of which the signals are unsure.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      pipeline: {
        type: 'string',
        'x-names': 'pipeline',
        'x-inputs': ['ingress', 'principal', 'consultation'],
        'x-gives': ['reply'],
        default: 'judge',
        description: 'The pipeline that asks the judge.',
      },
    },
  } as const,
  needs: ['request', 'target', 'ensemble', 'shortlist'],
  reads: ['principal', 'job', 'preview'],
  provides: ['verdict'],
  // Longer than the longest deadline.
  timeout: '90s',
  uses: ['smart_routing', 'judging', 'limits', 'api_keys', 'members', 'tokens', 'prices'],
  build({ pipeline }, host, services) {
    const { smart_routing: routing, judging } = services
    const affordability = new Affordability(host.catalog, services)
    const asked = (question: JsonObject, slots: Pick<Slots, 'consultation'> & Partial<Pick<Slots, 'principal'>>) =>
      [pipeline, { ingress: asking({ protocol: 'decisions', body: question }), ...slots }] as const
    const warmUp = () => {
      const { judge } = routing.settings
      const admission = judging.circuit.admit()
      const consultation = {
        isWarmUp: true,
        ensemble: 'SIMPLE',
        shadow: true,
        gateFired: false,
        sampled: false,
      } as const
      const question = questionFor(judge.model ?? '', hello, judge.ask_budget_chars)
      void host.dispatch(...asked(question, { consultation }), undefined, { deadline: patience }).then(({ slots }) => {
        const error = slots.judgement?.error
        if (error !== undefined) host.log.warn({ model: judge.model, error }, 'the judge of smart routing is not warm')
        admission?.ended(saysWhat(error), judge.circuit)
      })
    }
    if (!warming.has(judging)) {
      warming.add(judging)
      host.warm?.(() => judging.warmUp(warmUp), true)
    }
    const consult = (around: Circumstances, question: JsonObject, slots: Around, scope: Scope) => {
      const { settings, gate, ensemble } = around
      const admission = judging.circuit.admit()
      if (!admission) return { verdict: { notes: [], block: () => leftAlone(around) } }
      const { shadow, deadline_s: deadline } = settings
      const { principal } = slots
      const consultation: Consultation = { isWarmUp: false, ensemble, shadow, ...gate }
      const given = asked(question, { consultation, ...(principal ? { principal } : {}) })
      const ask = () => host.dispatch(...given, shadow ? beside(scope) : scope, { deadline: deadline * 1_000 })
      const dispatched = affordability.admits(question, settings, slots).then((may) => (may ? ask() : undefined))
      const call = new Call(around, dispatched, admission)
      return shadow ? { verdict: call.shadow() } : call.verdict().then((verdict) => ({ verdict }))
    }
    return (slots, scope) => {
      const { preview, target, ensemble } = slots
      const settings = (preview?.settings ?? routing.settings).judge
      if (!settings.enabled || settings.model === null || target.mode === undefined)
        return { verdict: preview ? { ...unasked, wouldAsk: { ask: false, because: 'off' } } : unasked }
      const gate = gateFor(settings, {
        id: preview?.id ?? scope.id,
        mode: target.mode,
        ensemble,
        isFirst: ensemble.facts['first'] === true,
        isBackground: isBackground(slots),
      })
      if (!gate.ask) return { verdict: preview ? { ...unasked, wouldAsk: gate } : unasked }
      const question = questionFor(settings.model, seenOf(slots, settings.user_turns), settings.ask_budget_chars)
      if (!preview) return consult({ settings, gate, ensemble: ensemble.tier }, question, slots, scope)
      return affordability
        .admits(question, settings, slots)
        .then((ask) => ({ verdict: { ...unasked, wouldAsk: ask ? gate : { ask, because: 'budget' } } }))
    }
  },
})

const hello: Seen = { ask: 'hello', earlier: [], flags: { images: 0, tools: 0, schema: false } }

function isBackground({ request, job, ensemble }: Around): boolean {
  return request.background || job !== undefined || ensemble.facts['background'] === true
}

function seenOf({ ensemble: { ask, last, earlier, facts } }: Around, turns: number): Seen {
  const count = (name: string) => Number(facts[name] ?? 0)
  return {
    ask: last?.() || ask,
    earlier: earlier(turns),
    flags: {
      images: count('images'),
      tools: count('tools'),
      schema: count('schema_depth') > 0 || count('schema_fields') > 0,
    },
  }
}

/** The parent of a call that goes on when the client leaves. */
function beside({ id, trace }: Scope): Pick<Scope, 'id' | 'trace' | 'onAbort'> {
  return { id, trace, onAbort: () => () => undefined }
}
