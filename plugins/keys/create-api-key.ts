import { defineStage } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { jsonReply, mergePatch, readQuery, requesterOf } from '../../engine/kit.ts'
import { KeyAnswers, needed } from './key-answers.ts'
import { creationBodies, fieldsIn, ofWhom } from './key-body.ts'
import { requireExpiry, requireGranted, requireWithin } from './key-policy.ts'
import { reached } from './stored-keys.ts'

/** Creates an API key, and returns it with its text, which is available only here. */
export default defineStage({
  name: 'create-api-key',
  summary: 'Create an API key.',
  config: ofWhom,
  body: ({ of }) => creationBodies[of],
  uses: [...needed, 'key_policy'],
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build({ of }, host, services) {
    const answers = new KeyAnswers(host, services)
    const { api_keys: keys, members, key_policy: policy } = services
    return async ({ ingress, principal, input }, scope) => {
      readQuery(ingress.query)
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
      const by = requesterOf(scope, { ingress, principal })
      const most = of === 'own' ? policy.max_keys_per_member : undefined
      const { id, text } = await reached(() => keys.create(fields, by, most))
      const body = { ...(await answers.stored(id)), key: text }
      const location = `${ingress.path}/${id}`
      return { reply: jsonReply(body, { status: 201, version: 1, headers: { location } }) }
    }
  },
})
