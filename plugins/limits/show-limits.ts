import { defineStage, noConfig } from '../../engine/index.ts'
import { limitsShower } from './shown-limits.ts'
import { after } from './soon.ts'

/** Shows the rate limits of a key and its owner with answers that count towards none. */
export default defineStage({
  name: 'show-limits',
  summary: 'Show what is left of the rate limits of the API key and its owner, in headers.',
  config: noConfig,
  needs: ['principal'],
  provides: [],
  uses: ['limits', 'api_keys', 'members'],
  build: (_config, host, services) => {
    const showLimits = limitsShower(host, services)
    return ({ principal }, scope) => after(showLimits(principal, scope), () => ({}))
  },
})
