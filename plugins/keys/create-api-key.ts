import { defineAction } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { mergePatch } from '../../engine/kit.ts'
import { KeyAnswers, answeredKey, needed, textShape } from './key-answers.ts'
import { creationBodies, fieldsIn, placeOf } from './key-body.ts'
import type { Whose } from './key-body.ts'
import { requireExpiry, requireGranted, requireWithin } from './key-policy.ts'
import { requireSelfService } from './require-self-service.ts'
import { reached } from './stored-keys.ts'

/** Creates an API key, and answers it with its text, which is available only here. */
export function createApiKey(of: Whose) {
  const { name, path, access, word } = placeOf('create', of)
  return defineAction({
    name,
    summary: `Create ${word}.`,
    route: `POST ${path}`,
    access,
    body: creationBodies[of],
    answer: textShape,
    status: 201,
    errors: [
      'self_service_off',
      'too_many_keys',
      'name_taken',
      'declared_in_file',
      'invalid_reference',
      'outside_own_limits',
    ],
    writes: 'own audit row',
    uses: [...needed, 'key_policy', 'audit'],
    before: (asked, services) => requireSelfService(asked, services, { name, of }),
    async run({ principal, by, body: input, ingress }, services, _scope, host) {
      const answers = new KeyAnswers(host, services)
      const { api_keys: keys, members, key_policy: policy } = services
      const given = mergePatch({}, input) as JsonObject
      const checked = fieldsIn(answers.checked(of === 'own' ? { ...given, owner: principal.id } : given))
      // No admin has limited what members make for themselves.
      const fields = of === 'own' ? { ...checked, granted: {} } : checked
      requireExpiry(fields, policy)
      if (of === 'own') {
        requireWithin(members.find(principal.id) ?? {}, fields)
        requireGranted({}, fields, given, answers.isProgram)
      }
      await keys.store.update()
      answers.requireUndeclared(fields.name)
      const most = of === 'own' ? policy.max_keys_per_member : undefined
      const { id, text } = await reached(() => keys.create(fields, by, most))
      return answeredKey({ ...(await answers.stored(id)), key: text }, `${ingress.path}/${id}`)
    },
  })
}
