import { defineStage } from '../../engine/index.ts'
import { emptyReply, requesterOf, versionsIn } from '../../engine/kit.ts'
import { KeyAnswers, needed, notFound } from './key-answers.ts'
import { ofWhom, ownerOf } from './key-body.ts'
import { reached } from './stored-keys.ts'

/** Revokes an API key of the database permanently, by the path's `:id`. */
export default defineStage({
  name: 'delete-api-key',
  summary: 'Delete an API key.',
  config: ofWhom,
  uses: needed,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build({ of }, host, services) {
    const answers = new KeyAnswers(host, services)
    return async ({ ingress, principal }, scope) => {
      const { key, fields } = await answers.findStored(ingress, { principal, of })
      const by = requesterOf(scope, { ingress, principal })
      const { id } = key
      const how = { by, ...ownerOf(principal, of), ...versionsIn(ingress) }
      const revoked = await reached(() => services.api_keys.revoke({ id, name: fields.name }, how))
      if (!revoked) throw notFound(id)
      return { reply: emptyReply }
    }
  },
})
