import { GatewayError, defineAction } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { defined, mergePatch, versionsIn } from '../../engine/kit.ts'
import { KeyAnswers, answeredKey, keyShape, needed } from './key-answers.ts'
import { bodyOfFields, changeBodies, fieldsIn, ownerOf, placeOf } from './key-body.ts'
import type { Whose } from './key-body.ts'
import { limitFields, limitsOf } from './known-key.ts'
import type { KeyFields, KeyLimits } from './known-key.ts'
import { requireExpiry, requireGranted, requireWithin } from './key-policy.ts'
import { requireSelfService } from './require-self-service.ts'
import { reached } from './stored-keys.ts'

/** Changes an API key of the database with a merge patch (RFC 7396). */
export function changeApiKey(of: Whose) {
  const { name, path, access, word } = placeOf('change', of)
  return defineAction({
    name,
    summary: `Change ${word} with a merge patch (RFC 7396).`,
    route: `PATCH ${path}/:id`,
    access,
    body: changeBodies[of],
    answer: keyShape,
    errors: [
      'self_service_off',
      'name_taken',
      'declared_in_file',
      'invalid_reference',
      'outside_own_limits',
      'stale_version',
    ],
    writes: 'own audit row',
    uses: [...needed, 'key_policy', 'audit'],
    before: (asked, services) => requireSelfService(asked, services, { name, of }),
    async run({ params, principal, by, body: input, ingress }, services, _scope, host) {
      const answers = new KeyAnswers(host, services)
      const { key, fields: known } = await answers.findStored(params.id, { principal, of })
      const edit = (fields: KeyFields) => {
        const { after, patched } = patchedFields(fields, input, answers)
        if ((after.expiresAt ?? Infinity) > Math.max(fields.expiresAt ?? Infinity, Date.now()))
          requireExpiry(after, services.key_policy)
        if (of === 'own') {
          requireWithin(services.members.find(principal.id) ?? {}, patched)
          requireGranted(grantedTo(fields), after, input, answers.isProgram)
          requireEnabling(fields, after)
        }
        if (after.name !== known.name) answers.requireUndeclared(after.name)
        const granted = of === 'own' ? grantedTo(fields) : grantedBy(fields, after, input)
        const isOwners = after.disabled === true && isOwnersChoice(fields, input, of)
        return defined({ ...after, granted, disabledBy: isOwners ? ('owner' as const) : undefined })
      }
      await reached(() =>
        services.api_keys.change(key.id, { by, ...ownerOf(principal, of), ...versionsIn(ingress), edit }),
      )
      return answeredKey(await answers.stored(key.id))
    },
  })
}

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

/** What the owner of a key may give it at most. */
function grantedTo(fields: KeyFields): KeyLimits {
  return fields.granted ?? limitsOf(fields)
}

/** What the owner may give it after an admin's patch: what he might before, except in what the patch names. */
function grantedBy(before: KeyFields, after: KeyFields, patch: JsonObject): KeyLimits | undefined {
  if (before.granted === undefined || before.owner !== after.owner) return undefined
  const named = new Set(
    Object.entries(limitFields).flatMap(([name, limit]) => (Object.hasOwn(patch, name) ? limit : [])),
  )
  const isNamed = ([limit]: readonly [string, unknown]) => named.has(limit as keyof KeyLimits)
  const kept = Object.entries(before.granted).filter((one) => !isNamed(one))
  return Object.fromEntries([...kept, ...Object.entries(limitsOf(after)).filter(isNamed)])
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
