import { GatewayError } from '../../engine/index.ts'
import type { Host, Principal, Scope } from '../../engine/index.ts'
import { showLevels, shownTo } from './headers.ts'
import type { Limits } from './limits.ts'
import type { Holders } from './rules.ts'
import { after } from './soon.ts'
import type { Soon } from './soon.ts'

/** Adds the rate limits of a client to the headers of its answer. They are read, and nothing is taken. */
export type ShowLimits = (principal: Principal | undefined, scope: Scope) => Soon<void>

/** The `ShowLimits` of one pipeline, in the words of its protocol. */
export function limitsShower(
  { pipeline: { protocol } }: Pick<Host, 'pipeline'>,
  { limits, ...holders }: Holders & { readonly limits: Pick<Limits, 'rules' | 'settings' | 'counting'> },
): ShowLimits {
  const show = shownTo(protocol)
  return (principal, scope) => {
    const own = limits.rules.of(principal, holders).rates.filter(({ kind }) => kind !== 'server')
    if (own.length === 0 || !limits.settings.headers) return
    const rates = own.map((rule) => ({ ...rule, amount: 0 }))
    const reading = limits.counting.take({ id: scope.id, lasts: 0, rates, places: [], forced: true })
    const shown = after(reading, ({ levels }) => showLevels(own, levels, show, scope))
    return shown instanceof Promise ? shown.catch(withoutStore) : shown
  }
}

/** An answer that is not limited does not fail because nobody knows the limits. */
function withoutStore(error: unknown): void {
  if (!(error instanceof GatewayError) || error.code !== 'store_unavailable') throw error
}
