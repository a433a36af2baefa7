import { ask } from './ask.ts'
import type { Refusal } from './ask.ts'
import type { Answers } from './answers.ts'

/** Who changed a record, and when. */
export interface LastChange {
  readonly name: string
  readonly at: string
}

/** How the audit trail calls the records of a path. */
const kinds: Readonly<Record<string, string>> = {
  'api-keys': 'api_key',
  members: 'member',
  models: 'model',
  providers: 'provider',
  server: 'settings',
  servers: 'mcp_server',
}

/** What gives a record another version. */
const verbs = ['create', 'update', 'rotate', 'reset', 'reset_password']

/** The type of record that a page of a plugin changes at a path. */
async function typeAt(path: string): Promise<string | undefined> {
  const list = path.slice(0, path.lastIndexOf('/'))
  const pages = await ask<Answers['list-pages']>('GET', '/api/pages').catch(() => undefined)
  return pages?.data.find(({ routes }) => routes.change?.startsWith(`PATCH ${list}/:`))?.name
}

/** Who made the version that a change was refused for; undefined where the trail does not say, or not to this user. */
export async function lastChange({ path }: Refusal): Promise<LastChange | undefined> {
  const [kind = '', target = ''] = path.split('/').slice(-2)
  const known = kinds[kind] ?? (await typeAt(path))
  if (known === undefined) return undefined
  const query = {
    target: decodeURIComponent(target),
    action: verbs.map((verb) => `${known}.${verb}`),
    outcome: 'ok',
    limit: 1,
  }
  // What both sides wrote can be shown without it.
  const found = await ask<Answers['list-audit']>('GET', '/api/logs/audit', { query }).catch(() => undefined)
  const { at, actor } = found?.data[0] ?? {}
  return at !== undefined && actor && actor.name !== null ? { name: actor.name, at } : undefined
}
