import Ajv from 'ajv/dist/2020.js'
import { sectionsSchema } from '../../engine/records/sections.ts'
import { upstreamCodec } from '../../engine/config/speaking.ts'
import type { Codecs } from '../../engine/config/speaking.ts'
import { httpLimits } from '../../engine/config/limits.ts'
import { byteBudgetOf } from '../../engine/kit.ts'
import type { AnyProvider, Catalog, Host, JsonObject, Provider } from '../../engine/index.ts'
import protocols from '../../plugins/protocols/index.ts'
import realtime from '../../plugins/realtime/index.ts'
import responses from '../../plugins/responses/index.ts'

/** The shipped codecs by protocol. */
export const codecs: Codecs = new Map(
  [protocols, responses, realtime].flatMap(({ codecs = [] }) =>
    codecs.map((codec) => [codec.protocol, codec] as const),
  ),
)

/** A host for providers under test: it keeps state as the engine does, and closes it. */
export interface TestHost extends Host {
  closeKept(): Promise<void>
}

export function testHost(): TestHost {
  const kept = new Map<string, { readonly value: unknown; readonly close: () => unknown }>()
  const sections = {}
  new Ajv.default({ useDefaults: true, strict: false }).compile(sectionsSchema(new Map()))(sections)
  const host: Pick<
    TestHost,
    'codecs' | 'upstreamCodec' | 'keep' | 'version' | 'byteBudget' | 'sockets' | 'closeKept'
  > & {
    readonly catalog: Pick<Catalog, 'settings'>
  } = {
    catalog: { settings: sections as Catalog['settings'] },
    codecs: [...codecs.values()],
    upstreamCodec: (protocol) => upstreamCodec(codecs, protocol),
    byteBudget: byteBudgetOf(Infinity),
    sockets: httpLimits.sockets,
    version: '0.0.0-test',
    keep(key, make, close) {
      const found = kept.get(key)
      if (found) return found.value as ReturnType<typeof make>
      const value = make()
      kept.set(key, { value, close: () => close?.(value) })
      return value
    },
    async closeKept() {
      for (const { close } of kept.values()) await close()
      kept.clear()
    },
  }
  return host as TestHost
}

/** Opens a provider as the loader does: its configuration is checked and its defaults are filled in. */
export function openProvider(plugin: AnyProvider, config: object, host: Host): Provider {
  const validate = new Ajv.default({ useDefaults: true, strict: false }).compile(plugin.config as object)
  const complete = structuredClone(config) as JsonObject
  if (!validate(complete)) throw new Error(`invalid configuration: ${JSON.stringify(validate.errors)}`)
  return plugin.open(complete, host)
}
