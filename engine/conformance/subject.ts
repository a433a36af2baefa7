import type { AnyProvider } from '../spec/provider.ts'
import type { JsonObject } from '../spec/json.ts'
import { makeCatalog } from '../live/catalog.ts'
import type { Configuration } from '../config/configuration.ts'
import { emptyGateway } from '../live/gateway-host.ts'
import { hostMaker } from '../live/host-maker.ts'
import { unopenedViews } from '../live/views.ts'
import { productVersion } from '../version.ts'
import type { Subject } from './rig.ts'

/** Fields that checks set themselves. */
const ownFields = ['headers', 'timeouts', 'max_connections', 'endpoint_base_urls']

/**
 * A provider type of a valid configuration as a subject, with the settings of the first provider of that type.
 * @param settings settings to use instead
 */
export function subjectOf(plugin: AnyProvider, configuration: Configuration, settings?: JsonObject): Subject {
  const { registry, settings: file } = configuration
  if (file === undefined) throw new Error('the configuration is not right')
  const declared = file.providers.find(({ type }) => type === plugin.name)?.config ?? {}
  const fields = Object.entries(declared).filter(([name]) => !ownFields.includes(name))
  return {
    plugin,
    settings: settings ?? Object.fromEntries(fields),
    codecs: registry.codecs,
    host() {
      const gateway = emptyGateway(productVersion())
      const kept = gateway.keep.lease()
      const hostFor = hostMaker({ gateway, kept }, configuration, makeCatalog(file, new Map()))
      const services = unopenedViews(registry, file)(plugin.uses)
      return { host: hostFor({ name: `providers/${plugin.name}` }), services, close: () => kept.close() }
    },
  }
}
