import { GatewayError } from '../../engine/index.ts'
import type { ActionAsked, Services } from '../../engine/index.ts'
import type { Whose } from './key-body.ts'

/** Refuses the request for own keys unless members may create and change them. The audit trail tells of it. */
export async function requireSelfService(
  { by }: Pick<ActionAsked, 'by'>,
  { key_policy: policy, audit }: Pick<Services, 'key_policy' | 'audit'>,
  { name: action, of }: { readonly name: string; readonly of: Whose },
): Promise<void> {
  if (of === 'all' || policy.self_service_keys) return
  await audit.refused({ by, action, code: 'self_service_off' })
  throw new GatewayError('self_service_off')
}
