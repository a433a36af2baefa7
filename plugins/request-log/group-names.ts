import type { Json, JsonObject, Services } from '../../engine/index.ts'
import type { Grouping } from './sums.ts'
import type { Cell } from './sums-query.ts'

/** The services that know names. */
export type Naming = Pick<Services, 'requests' | 'api_keys' | 'members'>

/** Shows the group of a cell. */
export type ShowGroup = (cell: Pick<Cell, 'group'>) => JsonObject

/** Names the keys and members of cells: by their present names, otherwise by those in their last rows. */
export async function groupNames(cells: readonly Cell[], by: readonly Grouping[], naming: Naming): Promise<ShowGroup> {
  const { requests, api_keys: keys, members } = naming
  const idsOf = (name: Grouping) => [...new Set(cells.map(({ group }) => group[name] ?? ''))].filter((id) => id !== '')
  const unknownKeys = idsOf('key').filter((id) => keys.get(id) === undefined)
  const unknownMembers = idsOf('member').filter((id) => members.find(id) === undefined)
  const keyNames = await requests.namesOf('key', unknownKeys)
  const memberNames = await requests.namesOf('member', unknownMembers)
  const shown = (name: Grouping, text: string): Json => {
    if (text === '') return null
    if (name === 'key')
      return { id: text, name: keys.get(text)?.name ?? keyNames.get(text) ?? text.replace(/^file:/, '') }
    if (name === 'member') return { id: text, username: members.find(text)?.username ?? memberNames.get(text) ?? null }
    return text
  }
  return ({ group }) => Object.fromEntries(by.map((name) => [name, shown(name, group[name] ?? '')]))
}
