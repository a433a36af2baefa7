import { defineStage, noConfig } from '../../engine/index.ts'
import type { Envelope, Given, Mode, ModelRecord, Scope, Services, Slots } from '../../engine/index.ts'
import { demandOf } from './demand.ts'
import { forecast } from './forecast.ts'
import { gatesFor } from './gates.ts'
import { moneyGate, purseOf } from './money-gate.ts'
import type { Purse } from './money-gate.ts'
import { Pool } from './pool.ts'
import { preferencesOf } from './preferences.ts'
import { partsOf, tellReasons } from './reasoning.ts'
import { measuredBy } from './settings.ts'
import type { Shortlist, ShortlistEntry } from './shortlisted.ts'
import { Sieve } from './sieve.ts'
import { limited } from './tier.ts'

type Read = Given<'request' | 'target' | 'ensemble', 'preferences' | 'principal' | 'preview'>

/** What is known of a conversation before it is routed. */
type Continuity = Pick<Shortlist, 'conversation' | 'incumbent' | 'notes'>

/**
 * Finds the models that may serve a request for a virtual model: those that pass the hard gates, one after the other.
 * The gate that removes the last one refuses the request.
 */
export default defineStage({
  name: 'shortlist',
  summary: 'Find the models that may serve a request for a virtual model.',
  config: noConfig,
  needs: ['request', 'target', 'ensemble'],
  reads: ['preferences', 'principal', 'preview'],
  provides: ['shortlist'],
  uses: ['smart_routing', 'experience', 'conversations', 'resilience', 'tokens', 'limits', 'api_keys', 'members'],
  build: (_config, host, services) => {
    const { smart_routing: routing, experience, resilience, tokens, limits } = services
    const pool = new Pool(host, routing)
    const shortlist = (slots: Read, scope: Scope, { conversation, incumbent, notes }: Continuity) => {
      const { request, target, preferences, ensemble, principal, preview } = slots
      const mode = modeIn(target)
      const settings = preview?.settings ?? routing.settings
      const cap = limits.capOf(request)
      const neutral = request.neutral('generate')
      const difficulty = limited(ensemble, { facts: ensemble.facts, format: neutral.format }, settings)
      const key = keyOf(principal)
      const outcomesOf = ({ name }: ModelRecord) =>
        experience.outcomes(name, difficulty.tier, measuredBy(settings), key)
      const { maxOutputTokens: maxOutput } = neutral
      const expected = { input: tokens.ofRequest(request.protocol, request.body), maxOutput, incumbent }
      const pooled = pool.of(request, mode)
      const entries = pooled.map(({ model, candidates }): ShortlistEntry => ({
        model,
        candidates,
        isBroken: candidates.every((candidate) => resilience.isOpen(candidate)),
        cost: forecast(model, difficulty.tier, expected, outcomesOf(model)).cost,
      }))
      const sieve = new Sieve(mode, entries)
      let payer: string | undefined
      const refuse = (error: unknown): never => {
        const refused = [...ensemble.notes, ...difficulty.notes, ...notes, ...sieve.notes]
        tellReasons(difficulty.tier, partsOf({ tier: difficulty.tier, notes: refused }), scope)
        if (payer !== undefined) scope.header('x-gateway-limit', payer)
        scope.note('routing', {
          ...difficulty,
          notes: refused,
          gates: sieve.gates.map((gate) => ({ ...gate })),
          conversation: conversation ?? null,
        })
        throw error
      }
      const pay = (purse: Purse) => {
        const money = moneyGate(purse, sieve.entries)
        payer = money && purse.by
        if (money) sieve.pass(money)
        return {
          shortlist: {
            input: expected.input,
            maxOutput,
            incumbent,
            entries: sieve.entries,
            gates: sieve.gates,
            notes: sieve.notes.length === 0 ? notes : [...notes, ...sieve.notes],
            conversation,
          },
        }
      }
      try {
        const at = {
          mode,
          models: principal?.models,
          preferences: preferences ?? preferencesOf(request),
          outcomesOf,
          demand: demandOf(neutral),
          input: expected.input,
          output: { asked: maxOutput, assumed: limits.settings.assumed_output_tokens },
          graceful: settings.graceful_degradation,
        }
        for (const gate of gatesFor(at, entries)) sieve.pass(gate)
        const purse = purseOf(cap, principal, services)
        return purse instanceof Promise ? purse.then(pay).catch(refuse) : pay(purse)
      } catch (error) {
        return refuse(error)
      }
    }
    // Nearly always, nobody waits.
    return (slots, scope) => {
      const known = continuityOf(slots.request, slots.principal, services)
      return known instanceof Promise
        ? known.then((continuity) => shortlist(slots, scope, continuity))
        : shortlist(slots, scope, known)
    }
  },
})

/** The mode of a virtual model. */
export function modeIn({ name, mode }: Slots['target']): Mode {
  if (mode === undefined) throw new Error(`"${name}" is no virtual model`)
  return mode
}

/** Id of the API key; null: it was none. */
export function keyOf(principal: Slots['principal'] | undefined): string | null {
  return principal?.kind === 'key' ? principal.id : null
}

/** The conversation of a request, and the model that served it last. */
function continuityOf(
  request: Envelope,
  principal: Slots['principal'] | undefined,
  { conversations, experience }: Pick<Services, 'conversations' | 'experience'>,
): Continuity | Promise<Continuity> {
  const conversation = principal && conversations.of(request, principal)
  if (conversation === undefined || !conversations.isShared) return { conversation, incumbent: undefined, notes: [] }
  return experience.incumbent(conversation).then(({ incumbent, isKnown }) => ({
    conversation,
    incumbent,
    notes: isKnown ? [] : ['continuity=unavailable'],
  }))
}
