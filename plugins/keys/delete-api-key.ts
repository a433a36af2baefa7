import { defineAction } from '../../engine/index.ts'
import { versionsIn } from '../../engine/kit.ts'
import { KeyAnswers, needed, notFound } from './key-answers.ts'
import { ownerOf, placeOf } from './key-body.ts'
import type { Whose } from './key-body.ts'
import { requireSelfService } from './require-self-service.ts'
import { reached } from './stored-keys.ts'

/** Revokes an API key of the database permanently. */
export function deleteApiKey(of: Whose) {
  const { name, path, access, word } = placeOf('delete', of)
  return defineAction({
    name,
    summary: `Delete ${word}, which is refused at once.`,
    route: `DELETE ${path}/:id`,
    access,
    errors: ['self_service_off', 'declared_in_file', 'stale_version'],
    writes: 'own audit row',
    uses: [...needed, 'key_policy', 'audit'],
    before: (asked, services) => requireSelfService(asked, services, { name, of }),
    async run({ params, principal, by, ingress }, services, _scope, host) {
      const { key, fields } = await new KeyAnswers(host, services).findStored(params.id, { principal, of })
      const how = { by, ...ownerOf(principal, of), ...versionsIn(ingress) }
      const revoked = await reached(() => services.api_keys.revoke({ id: key.id, name: fields.name }, how))
      if (!revoked) throw notFound(key.id)
    },
  })
}
