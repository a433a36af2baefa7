import { GatewayError, definePlugin, defineService, defineStage, noConfig } from 'sluice'
import type { Principal, Reply } from 'sluice'

declare module 'sluice' {
  interface Services {
    acme_members: { revoke(name: string): void }
  }
}

/** Members who have signed in: a token is `<name>@acme`, and their role stands in the settings. */
const members = defineService({
  name: 'acme_members',
  summary: 'Who is a member, and what each of them may do.',
  uses: ['sessions'],
  settings: {
    type: 'object',
    additionalProperties: false,
    properties: {
      roles: {
        type: 'object',
        additionalProperties: { enum: ['viewer', 'admin'] },
        default: {},
        description: 'The role of each member, by name.',
      },
    },
  } as const,
  open() {
    // Outlives a reload: who was signed out stays so.
    const revoked = new Set<string>()
    return {
      configure({ roles }, { sessions }) {
        sessions.from(async (token): Promise<Principal | undefined> => {
          const [name = '', realm] = token.split('@')
          await new Promise(setImmediate)
          if (realm !== 'acme' || revoked.has(name)) return undefined
          if (name === 'new') throw new GatewayError('forbidden', {}, { code: 'password_change_required' })
          const role = Object.hasOwn(roles, name) ? roles[name] : undefined
          return role === undefined ? undefined : { kind: 'member', id: `member-${name}`, name, role }
        })
        return { view: { revoke: (name) => void revoked.add(name) } }
      },
    }
  },
})

const me = defineStage({
  name: 'acme-me',
  summary: 'Tell who asks.',
  config: noConfig,
  needs: ['principal'],
  provides: ['reply'],
  build: () => {
    return ({ principal: { kind, id, name, role = null } }): { reply: Reply } => ({
      reply: { status: 200, headers: {}, body: { kind: 'json', value: { kind, id, name, role } } },
    })
  },
})

const signOut = defineStage({
  name: 'acme-sign-out',
  summary: 'End the session of whoever asks.',
  config: noConfig,
  uses: ['acme_members'],
  needs: ['principal'],
  provides: [],
  build: (_, __, { acme_members: view }) => {
    return ({ principal }) => {
      view.revoke(principal.name)
      return {}
    }
  },
})

export default definePlugin({
  name: 'acme-members',
  summary: 'Members with sessions, as an outsider would bring them.',
  services: [members],
  stages: [me, signOut],
})
