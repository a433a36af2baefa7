import { GatewayError } from '../../engine/index.ts'
import type { ActionAsked, RecordLookup, ShownRecord } from '../../engine/index.ts'
import { versionsIn } from '../../engine/kit.ts'

/** The provider in the path of an action, in the version that its client expects. */
export function providerIn(
  { ingress, params: { name } }: Pick<ActionAsked<'/:name'>, 'ingress' | 'params'>,
  records: RecordLookup,
): ShownRecord {
  const provider = records.find('provider', name)
  if (provider === undefined)
    throw new GatewayError('not_found', {}, { message: `There is no provider "${name.slice(0, 256)}".` })
  const { versions } = versionsIn(ingress)
  const version = provider.stored?.version
  if (versions && (version === undefined || !versions.includes(version)))
    throw new GatewayError('stale_version', { type: 'provider', name, version: version ?? 'none' })
  return provider
}
