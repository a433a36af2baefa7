import { defineStage, noConfig } from '../../engine/index.ts'

/** Sets the price that the settings have for the judge, in place of that of its record. */
export default defineStage({
  name: 'price-judge',
  summary: 'Set the price of the judge that the settings of smart routing have.',
  config: noConfig,
  needs: ['candidates'],
  provides: ['candidates'],
  uses: ['smart_routing'],
  build:
    (_config, _host, { smart_routing: routing }) =>
    ({ candidates }) => {
      const { price } = routing.settings.judge
      if (price === null) return { candidates }
      const pricing = { input: price.input, cache_read: price.input, cache_write: price.input }
      return { candidates: candidates.map((one) => ({ ...one, model: { ...one.model, pricing } })) }
    },
})
