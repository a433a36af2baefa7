import { match, ok } from 'node:assert/strict'
import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import { group } from './check.ts'

export const declares = group('declares', (check) => {
  check('itself in one sentence', ({ plugin }) => {
    match(plugin.summary, /^\S.*\.$/, 'the summary is no sentence that ends with a full stop')
  })

  check('what each of its fields is', ({ plugin }) => {
    const properties = (plugin.config as { properties?: Record<string, Json> }).properties ?? {}
    for (const [name, field] of Object.entries(properties))
      ok(isObject(field) && typeof field['description'] === 'string', `the field "${name}" has no description`)
  })

  check('no secret but its own fields', ({ plugin }) => {
    const { properties = {} } = plugin.config as { properties?: object }
    for (const name of plugin.secrets ?? []) ok(Object.hasOwn(properties, name), `there is no field "${name}"`)
  })

  check('what somebody serves', async (rig) => {
    const provider = rig.open()
    ok(rig.offers.length > 0, 'it offers nothing')
    for (const { operation, protocol } of rig.offers) {
      if (protocol === undefined) ok(operation in (provider.answer ?? {}), `nothing answers "${operation}"`)
      else ok(typeof provider.send === 'function', `nothing sends "${protocol}"`)
    }
    await provider.close?.()
  })

  check('nothing that a second opening disturbs', async (rig) => {
    const first = rig.open()
    const second = rig.open()
    await first.close?.()
    await second.close?.()
    await rig.open().close?.()
  })
})
