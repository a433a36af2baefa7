import { answers } from './answers.ts'
import type { Check } from './check.ts'
import { closes } from './closes.ts'
import { fails } from './fails.ts'
import { triedWith, key } from './rig.ts'
import type { Subject } from './rig.ts'
import type { Operation } from '../spec/operation.ts'
import type { Offer } from '../spec/open-provider.ts'
import { sends } from './sends.ts'
import { takes } from './takes.ts'
import { match, ok, throws } from 'node:assert/strict'
import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import { group } from './check.ts'

/**
 * The requirements for a provider, however its upstream behaves. Every type is checked for its declarations and its
 * neutral answers; one with a `base_url` also over HTTP, against a misbehaving upstream.
 */
export function checksFor(subject: Subject): readonly Check[] {
  const { properties = {} } = subject.plugin.config as { properties?: object }
  const offers = subject.plugin.offers(triedWith(subject))
  const neutral = new Set<Operation>(offers.flatMap((offer) => (offer.protocol ? [] : [(offer as Offer).operation])))
  const overHttp = Object.hasOwn(properties, 'base_url') ? [...sends, ...takes, ...fails, ...closes, ...refuses] : []
  return [...declares, ...answers, ...overHttp].filter(
    ({ when: { field, answers: operation } }) =>
      (field === undefined || Object.hasOwn(properties, field)) && (operation === undefined || neutral.has(operation)),
  )
}

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

export const refuses = group('refuses settings', (check, checkWhen) => {
  checkWhen({ field: 'headers' }, 'with line breaks in a header or in the key', async (rig) => {
    throws(() => rig.open({ headers: { 'x-a': 'b\r\nx-c: d' } }))
    throws(() => rig.open({ headers: { 'x-a\r\nx-c': 'd' } }))
    throws(() => rig.open({ api_key: `${key}\n` }))
  })

  checkWhen({ field: 'headers' }, 'that would set what belongs to the connection', async (rig) => {
    for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'accept-encoding']) {
      throws(() => rig.open({ headers: { [name]: 'x' } }), /cannot be set/, name)
    }
  })

  check('whose address is none, without repeating it', async (rig) => {
    for (const url of ['ftp://127.0.0.1', 'nonsense', `http://user:${key}@127.0.0.1/v1`, 'http://127.0.0.1/v1#x']) {
      throws(() => rig.openAt(url), /^\w{1,32}: base_url must be/, url)
    }
  })
})
