import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { limitHeaders, shownTo } from './headers.ts'
import { after } from './soon.ts'

/**
 * Shows the rate limits of a key and its owner with answers that count towards none. They are read, and nothing is
 * taken.
 */
export default defineStage({
  name: 'show-limits',
  summary: 'Show what is left of the rate limits of the API key and its owner, in headers.',
  config: noConfig,
  needs: ['principal'],
  provides: [],
  uses: ['limits', 'api_keys', 'members'],
  build: (_config, host, { limits, ...holders }) => {
    const show = shownTo(host.pipeline.protocol)
    return ({ principal }, scope) => {
      const own = limits.rules.of(principal, holders).rates.filter(({ kind }) => kind !== 'server')
      if (own.length === 0 || !limits.settings.headers) return {}
      const rates = own.map((rule) => ({ ...rule, amount: 0 }))
      const reading = limits.counting.take({ id: scope.id, lasts: 0, rates, places: [], forced: true })
      const shown = after(reading, ({ levels }) => {
        for (const [name, value] of limitHeaders(own, levels, show)) scope.header(name, value)
        return {}
      })
      return shown instanceof Promise ? shown.catch(withoutStore) : shown
    }
  },
})

/** An answer that is not limited does not fail because nobody knows the limits. */
function withoutStore(error: unknown) {
  if (error instanceof GatewayError && error.code === 'store_unavailable') return {}
  throw error
}
