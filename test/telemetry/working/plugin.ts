import { definePlugin, defineStage, noConfig } from 'sluice'

/** A stage that has a span of its own. */
const work = defineStage({
  name: 'acme-work',
  summary: 'Work.',
  config: noConfig,
  needs: ['ingress'],
  provides: [],
  uses: ['traces'],
  build:
    (_config, _host, { traces }) =>
    (_slots, scope) => {
      const end = traces.span(scope, { name: 'acme work', kind: 'client', attributes: { 'acme.size': 3 } })
      end({ attributes: { 'acme.done': true }, error: 'acme_tired' })
      return {}
    },
})

export default definePlugin({ name: 'acme-working', summary: 'Works.', stages: [work] })
