import { ask } from './ask.ts'
import type { Refusal } from './ask.ts'
import type { Answers } from './answers.ts'
import type { PluginPage } from './pages.ts'

/** Who changed a record, and when. */
export interface LastChange {
  readonly name: string
  readonly at: string
}

/** How the audit trail calls the records below a path. */
const types: ReadonlyMap<string, string> = new Map([
  ['/api/api-keys', 'api_key'],
  ['/api/me/api-keys', 'api_key'],
  ['/api/team/members', 'member'],
  ['/api/config/models', 'model'],
  ['/api/config/providers', 'provider'],
  ['/api/config/server', 'settings'],
  ['/api/mcp/servers', 'mcp_server'],
])

/** What gives a record another version. */
const verbs = ['create', 'update', 'rotate', 'reset', 'reset_password']

/** The type of record that a page of a plugin changes below a path. */
async function typeOfPage(list: string): Promise<string | undefined> {
  const pages = await ask<Answers['list-pages']>('GET', '/api/pages').catch(() => undefined)
  const isBehind = ({ kind, routes }: PluginPage) =>
    kind === 'record' && routes.change?.startsWith(`PATCH ${list}/:`) === true
  return pages?.data.find(isBehind)?.name
}

/** Who made the version that a change was refused for; undefined where the trail does not say, or not to this user. */
export async function lastChange({ path }: Refusal): Promise<LastChange | undefined> {
  const end = path.lastIndexOf('/')
  const list = path.slice(0, end)
  const type = types.get(list) ?? (await typeOfPage(list))
  if (type === undefined) return undefined
  const query = {
    target: decodeURIComponent(path.slice(end + 1)),
    action: verbs.map((verb) => `${type}.${verb}`),
    outcome: 'ok',
    limit: 1,
  }
  // What both sides wrote can be shown without it.
  const found = await ask<Answers['list-audit']>('GET', '/api/logs/audit', { query }).catch(() => undefined)
  const { at, actor } = found?.data[0] ?? {}
  return at !== undefined && actor && actor.name !== null ? { name: actor.name, at } : undefined
}
