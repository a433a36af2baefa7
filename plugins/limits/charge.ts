import { defineStage, noConfig } from '../../engine/index.ts'
import type { Json, Scope } from '../../engine/index.ts'
import type { Charged } from './charges.ts'
import { leftEarly } from './left-early.ts'
import { MICROS } from './money.ts'
import { after } from './soon.ts'

/** Errors of runs in the background of which only `finally` runs: nobody else ends what they hold. */
const lost = 'worker_lost'
const unstarted = 'cancelled'

/**
 * Charges an exchange for what it cost, before its row is logged: the ledger, and the budgets that hold money for it. A
 * response in the background is charged when its run has ended. A run whose process was lost is charged for its input,
 * and so is a client that left before the answer began.
 */
export default defineStage({
  name: 'charge',
  summary: 'Charge the cost to the budgets of the API key, its owner and the gateway.',
  config: noConfig,
  needs: ['outcome'],
  reads: ['principal', 'bill', 'model', 'job', 'ingress'],
  // A failure of billing must not leave money held.
  insists: () => ['bill'],
  provides: [],
  pays: ['charge'],
  uses: ['limits', 'api_keys', 'members'],
  build:
    (_config, _host, { limits, ...holders }) =>
    ({ outcome, principal, bill, model, job, ingress }, scope) => {
      const isPassedOn = job !== undefined && ingress !== undefined
      if (isPassedOn) return {}
      const { id } = scope
      const charged = limits.running.of(scope).micros
      const isRun = job !== undefined
      const ended = { id, at: Date.now() - scope.elapsed(), principal, bill, model, charged, isRun }
      const code = outcome.error?.code
      const isLost = isRun && limits.charges.openOf(id) === undefined && (code === lost || code === unstarted)
      const isUnknown = model === undefined && bill?.cost.micros === undefined
      const isLeft = isUnknown && limits.charges.openOf(id) !== undefined && leftEarly(code, scope)
      if (!isLost && !isLeft) {
        const charging = limits.charges.charge(ended)
        return charging instanceof Promise ? charging.then(noting(scope)) : noteCharge(charging, scope)
      }
      const note = noting(scope)
      const { budgets, places } = limits.rules.of(principal, holders)
      if (isLeft) return limits.charges.chargeLost(ended, budgets, true).then(note)
      const left = limits.counting.give({ id, rates: [], places: places.map(({ bucket }) => bucket) }, 'usual')
      return after(left, () => limits.charges.chargeLost(ended, budgets, code === lost).then(note))
    },
})

const nothing = {}

function noting(scope: Scope): (charged: Charged) => typeof nothing {
  return (charged) => noteCharge(charged, scope)
}

function noteCharge({ micros, estimated, budgets }: Charged, scope: Scope): typeof nothing {
  if (budgets.length === 0) return nothing
  const usd = micros / MICROS
  scope.note(
    'charged',
    budgets.map(({ kind }): Json => ({ bucket: kind, usd })),
  )
  if (estimated) scope.note('charged_by', 'estimate')
  return nothing
}
