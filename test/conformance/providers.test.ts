import { expect } from 'chai'
import { Rig } from '../../engine/conformance/rig.ts'
import { subjectOf } from '../../engine/cli/conform.ts'
import { checksFor } from '../../engine/conformance/suite.ts'
import type { JsonObject } from '../../engine/index.ts'
import { configuration } from '../rules/registry.ts'
import { sideBySide } from '../support/side-by-side.ts'

/** Ways to set a type up beside its defaults. */
const variants: Readonly<Record<string, readonly JsonObject[]>> = {
  azure: [{ api_version: '2024-10-21' }],
  bedrock: [{ traits: { cache_points: false } }],
  messages: [{ auth: 'bearer' }],
}

const loaded = await configuration()

// Every registered provider type is here by being registered.
for (const plugin of loaded.registry.providers.values())
  for (const settings of [{}, ...(variants[plugin.name] ?? [])])
    describe(`provider ${plugin.name} ${JSON.stringify(settings)}`, function () {
      this.timeout(300_000)
      const subject = subjectOf(plugin, loaded, settings)
      for (const check of checksFor(subject))
        (check.lasts ? sideBySide : it)(`${check.group} ${check.name}`, async () => {
          const rig = await Rig.open(subject)
          try {
            await check.run(rig)
          } finally {
            await rig.close()
          }
        })
    })

describe('the conformance suite of providers', () => {
  it('tries every type that is registered, each in more than what it declares', () => {
    const tried = [...loaded.registry.providers.values()].map((plugin) => {
      const groups = new Set(checksFor(subjectOf(plugin, loaded, {})).map(({ group }) => group))
      return [plugin.name, groups.size > 1]
    })
    expect(tried.length).to.be.above(6)
    expect(tried.filter(([, more]) => more !== true)).to.deep.equal([])
  })
})
