import { GatewayError, defineStage } from '../../engine/index.ts'
import type { JsonObject, Services } from '../../engine/index.ts'
import { jsonReply, mergePatch, requesterOf, versionsIn } from '../../engine/kit.ts'
import { KeyAnswers, needed } from './key-answers.ts'
import { bodyOfFields, changeBodies, fieldsIn, ofWhom, ownerOf } from './key-body.ts'
import type { Whose } from './key-body.ts'
import type { KeyFields } from './known-key.ts'
import { requireExpiry, requireWithin } from './key-policy.ts'
import { reached } from './stored-keys.ts'

/** Changes an API key of the database, by the path's `:id`, with a merge patch (RFC 7396). */
export default defineStage({
  name: 'change-api-key',
  summary: 'Change an API key.',
  config: ofWhom,
  body: ({ of }) => changeBodies[of],
  uses: [...needed, 'key_policy'],
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build({ of }, host, services) {
    const answers = new KeyAnswers(host, services)
    return async ({ ingress, principal, input }, scope) => {
      const { key, fields: known } = await answers.findStored(ingress, { principal, of })
      const edit = (fields: KeyFields) => {
        const { after, patched } = patchedFields(fields, input, answers)
        if (of === 'own') requireOwn(principal.id, patched, input, services)
        if (of === 'own') requireEnabling(fields, after)
        if (after.name !== known.name) answers.requireUndeclared(after.name)
        const isOwners = after.disabled === true && isOwnersChoice(fields, input, of)
        return isOwners ? { ...after, disabledBy: 'owner' as const } : after
      }
      const by = requesterOf(scope, { ingress, principal })
      await reached(() =>
        services.api_keys.change(key.id, { by, ...ownerOf(principal, of), ...versionsIn(ingress), edit }),
      )
      const body = await answers.stored(key.id)
      return { reply: jsonReply(body, { version: body['version'] as number }) }
    }
  },
})

/** The fields of a key after a patch, and those that the patch names, which alone are checked. */
function patchedFields(
  before: KeyFields,
  patch: JsonObject,
  answers: KeyAnswers,
): { readonly after: KeyFields; readonly patched: KeyFields } {
  const merged = mergePatch(bodyOfFields(before), patch) as JsonObject
  const isPatched = ([field]: readonly [string, unknown]) => Object.hasOwn(patch, field)
  const named = Object.fromEntries(Object.entries(merged).filter(isPatched))
  const checked = answers.checked({ ...named, name: merged['name'] })
  const others = Object.fromEntries(Object.entries(merged).filter((member) => !isPatched(member)))
  return { after: fieldsIn({ ...others, ...checked }), patched: fieldsIn(checked) }
}

/** A member may not give his key more than he has, nor more time than a new one gets. */
function requireOwn(
  member: string,
  patched: KeyFields,
  patch: JsonObject,
  { members, key_policy: policy }: Pick<Services, 'members' | 'key_policy'>,
): void {
  requireWithin(members.find(member) ?? {}, patched)
  const isLonger = Object.hasOwn(patch, 'expires_at') && (patched.expiresAt ?? Infinity) > Date.now()
  if (isLonger) requireExpiry(patched, policy)
}

/** Only the member who disabled his key enables it himself. Throws `outside_own_limits`. */
function requireEnabling(before: KeyFields, { disabled }: KeyFields): void {
  if (before.disabled && !disabled && before.disabledBy !== 'owner')
    throw new GatewayError('outside_own_limits', { param: 'disabled' })
}

/** Whether the owner, and nobody else, disables the key. */
function isOwnersChoice(before: KeyFields, patch: JsonObject, of: Whose): boolean {
  if (!Object.hasOwn(patch, 'disabled')) return before.disabledBy === 'owner'
  return of === 'own' && (before.disabled !== true || before.disabledBy === 'owner')
}
