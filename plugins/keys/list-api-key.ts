import { GatewayError, defineAction } from '../../engine/index.ts'
import type { Host, Services } from '../../engine/index.ts'
import { isVirtual, listOf, pageOf } from '../../engine/kit.ts'
import type { ListQuery } from '../../engine/kit.ts'
import { KeyAnswers, keyShape, needed } from './key-answers.ts'
import type { ShownKey } from './key-answers.ts'
import { placeOf } from './key-body.ts'
import type { Whose } from './key-body.ts'
import { covers, principalOf } from './known-key.ts'
import { foldedName } from './table.ts'

const text = (description: string) => ({ type: 'string', description }) as const

const filters = {
  owner: text('Id of the member who owns the key.'),
  state: { enum: ['active', 'disabled', 'expired', 'off'], description: 'Whether the key can be used.' },
  source: { enum: ['file', 'database'], description: 'Where the key comes from.' },
  model: text('Keys that may use this model.'),
  tag: text('A tag and its value, such as team:red.'),
  search: text('Part of the name or of the last characters.'),
} as const

/** Answers the API keys that match the query, page by page. */
export function listApiKey(of: Whose) {
  const { path, name } = placeOf('list', of)
  return defineAction({
    name,
    summary: `Answer a page of the API keys${of === 'own' ? ' that the member owns' : '; a viewer sees those he owns'}.`,
    route: `GET ${path}`,
    access: { role: 'viewer' },
    query: listOf({ filters, sorts: ['name', 'created_at', 'last_used_at', 'spent'], usual: '-created_at' }),
    answer: pageOf(keyShape),
    errors: ['invalid_cursor'],
    uses: needed,
    async run({ query: list, principal }, services, _scope, host) {
      const answers = new KeyAnswers(host, services)
      const keys = (await answers.all({ principal, of })).filter(filterOf(list, host, services))
      const valueOf = await sortOf(list.sort, keys, services)
      const { data, next_cursor } = list.page(keys, (shown) => [valueOf(shown), shown.key.id])
      return { data: await answers.print(data), next_cursor }
    },
  })
}

function filterOf(
  list: ListQuery,
  { catalog }: Pick<Host, 'catalog'>,
  { members }: Pick<Services, 'members'>,
): (shown: ShownKey) => boolean {
  const { search } = list
  const any = (name: string, one: string) => list.values(name)?.includes(one) ?? true
  const models = list.values('model')?.map((name) => catalog.find(name)?.name ?? name)
  const tags = list.values('tag')?.map(tagIn)
  const mayUse = ({ key, fields }: ShownKey, name: string) => {
    const { models: allowed } = principalOf({ id: key.id, fields }, (id) => members.find(id))
    return allowed === undefined || isVirtual(name) || covers(allowed, name)
  }
  return (shown) => {
    const { key, fields, state, hint } = shown
    return (
      any('owner', fields.owner ?? '') &&
      any('state', state) &&
      any('source', key.stored ? 'database' : 'file') &&
      (models?.some((name) => mayUse(shown, name)) ?? true) &&
      (tags?.some(([name, value]) => fields.tags?.[name] === value) ?? true) &&
      (foldedName(fields.name).includes(search) || (hint?.toLowerCase().includes(search) ?? false))
    )
  }
}

function tagIn(text: string): readonly [name: string, value: string] {
  const colon = text.indexOf(':')
  if (colon < 1)
    throw new GatewayError('invalid_field', { param: 'tag', reason: 'must be a name and a value, such as team:red' })
  return [text.slice(0, colon), text.slice(colon + 1)]
}

/** Budgets that are asked for together: a statement has a limited number of parameters. */
const together = 500

/** The value by which keys are sorted. */
async function sortOf(
  field: string,
  keys: readonly ShownKey[],
  { api_keys: service, limits }: Pick<Services, 'api_keys' | 'limits'>,
): Promise<(shown: ShownKey) => string | number | null> {
  if (field === 'name') return ({ fields }) => foldedName(fields.name)
  if (field === 'created_at') return ({ key }) => key.stored?.createdAt ?? null
  if (field === 'last_used_at') {
    const uses = await service.store.lastUses()
    return ({ key }) => uses.get(key.id) ?? null
  }
  // Of a key without a budget, what it has spent this month.
  const asked = keys.map(({ key: { id }, fields: { budget = { usd: 0, period: 'month' } } }) => {
    return [{ kind: 'key', id }, budget] as const
  })
  const spent = new Map<string, number>()
  for (let at = 0; at < asked.length; at += together) {
    const states = await limits.budgetsOf(asked.slice(at, at + together))
    states.forEach((state, index) => spent.set(keys[at + index]?.key.id ?? '', state.spent))
  }
  return ({ key }) => spent.get(key.id) ?? 0
}
