import { definePlugin, defineStage, noConfig } from 'sluice'

/** What no attribute can be, whatever types say: a plugin may be JavaScript. */
const odd = Object.fromEntries(
  [undefined, null, { deep: 1 }, [1, 2], ['a', null], NaN, -Infinity, 1n, Symbol('s'), () => 1].map((value, at) => [
    `acme.odd.${at}`,
    value as never,
  ]),
)

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
      const end = traces.span(scope, { name: 'acme work', kind: 'client', attributes: { 'acme.size': 3, ...odd } })
      const late = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`acme.many.${at}`, at]))
      end({ attributes: { 'acme.done': true, 'acme.words': ['one', 'three'], ...odd, ...late }, error: 'acme_tired' })
      end({ attributes: { 'acme.done': false } })
      return {}
    },
})

export default definePlugin({ name: 'acme-working', summary: 'Works.', stages: [work] })
