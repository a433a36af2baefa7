import { didYouMean } from '../config/suggest.ts'
import type { ReportOf } from '../config/uses.ts'
import type { AnyAction } from '../spec/action.ts'
import { defined, isObject } from '../spec/json.ts'
import { pageGroups, pageIcons } from '../spec/page.ts'
import type { PageParts, PageView } from '../spec/page.ts'
import type { AnyRecord } from '../spec/record.ts'
import { routeKey } from './declarations.ts'
import { parametersOf } from './list-query.ts'

interface Components {
  readonly actions: ReadonlyMap<string, AnyAction>
  readonly records: ReadonlyMap<string, AnyRecord>
}

/** A declared page, and what is behind it as far as it is there. */
interface Declared {
  readonly owner: AnyAction | AnyRecord
  readonly page: PageParts
  readonly path: string | undefined
  readonly list?: AnyAction
  /** What a record is shown and changed by. */
  readonly others: Omit<PageView['actions'], 'list'>
  /** Absent: nothing lists rows. */
  readonly row: Row | undefined
}

interface Row {
  readonly properties: Readonly<Record<string, unknown>>
}

/** The pages of types of records and of actions, which must have passed `checkPages`. */
export function pagesOf(components: Components): readonly PageView[] {
  return declaredPages(components).flatMap(({ owner: { name, kind }, page, list, others, row }) => {
    if (list === undefined || row === undefined) return []
    const query = parametersOf(list.query)
    return {
      name,
      kind,
      facts: [],
      ...page,
      ...defined({ key: keyOf(row, others) }),
      actions: { list, ...others },
      query,
      row,
    }
  })
}

/** Finds pages that the console cannot show, each at its type of record or action. */
export function checkPages(components: Components, report: ReportOf): void {
  const owners = new Map<string, string>()
  for (const declared of declaredPages(components)) {
    const { owner } = declared
    const [own, other] = [`${owner.kind} "${owner.name}"`, owners.get(owner.name)]
    if (other === undefined) owners.set(owner.name, own)
    else report(owner, 'duplicate', `${own}: the page "${owner.name}" is that of the ${other} already`)
    for (const problem of problemsOf(declared)) report(owner, 'page', `${own}: ${problem}`)
  }
}

function declaredPages({ actions, records }: Components): readonly Declared[] {
  const byRoute = new Map([...actions.values()].map((action) => [keyOfRoute(action.route), action]))
  const at = (route: string) => byRoute.get(keyOfRoute(route))
  return [...records.values(), ...actions.values()].flatMap((owner): Declared[] => {
    const { page } = owner
    if (page === undefined) return []
    const path = owner.kind === 'record' ? owner.route : owner.route.split(' ')[1]
    const one = `${path}/:name`
    const list = owner.kind === 'record' ? at(`GET ${path}`) : owner
    const others = defined({
      get: at(`GET ${one}`),
      create: at(`POST ${path}`),
      change: at(`PATCH ${one}`),
      delete: at(`DELETE ${one}`),
    })
    return [{ owner, page, path, ...defined({ list }), others, row: list && rowOf(list) }]
  })
}

function keyOfRoute(route: string): string {
  const [method = '', path = ''] = route.split(' ')
  return routeKey({ method, path })
}

/** The rows of an action that answers a page; undefined: it answers none, or none that its path alone leads to. */
function rowOf({ route, query, answer, stream }: AnyAction): Row | undefined {
  const { data, next_cursor: cursor } = ((answer ?? {}) as Partial<Row>).properties ?? {}
  const row = (data as { readonly items?: Partial<Row> } | undefined)?.items
  const isPage = query?.['list'] === true && cursor !== undefined && stream === undefined
  return isPage && /^GET [^:]+$/.test(route) && isObject(row?.properties) ? (row as Row) : undefined
}

/** The field of a row that names its record: the parameter of the routes of one record, `id`, or `name`. */
function keyOf({ properties }: Row, { get, change, delete: remove }: Declared['others']): string | undefined {
  const params = [get, change, remove].flatMap((action) => action?.route.split('/:')[1] ?? [])
  return [...params, 'id', 'name'].find((name) => Object.hasOwn(properties, name))
}

const fields = ['title', 'group', 'icon', 'columns', 'facts']

function problemsOf({ owner, page, path, list, others, row }: Declared): readonly string[] {
  if (!isObject(page)) return ['its "page" must be { title, group, icon, columns, facts }']
  const { title, group, icon, columns, facts = [] } = page as unknown as Readonly<Record<string, unknown>>
  const strange = Object.keys(page).find((field) => !fields.includes(field))
  const problems = [
    strange !== undefined && `its page has an unknown field "${strange}"${didYouMean(strange, fields)}`,
    (typeof title !== 'string' || title === '') && 'its page needs a "title"',
    unknownWord('group', group, pageGroups),
    unknownWord('icon', icon, pageIcons),
    (!isTexts(columns) || columns.length === 0) && 'its page needs "columns", a list of fields of a row',
    !isTexts(facts) && 'the "facts" of its page must be a list of fields of a row',
    list && 'key' in list.access && 'its page is for members, and its list for holders of API keys',
    ...(row === undefined
      ? [rowless(owner, path)]
      : [
          ...unknownFields('column', columns, row),
          ...unknownFields('fact', facts, row),
          isTexts(facts) &&
            facts.length > 0 &&
            keyOf(row, others) === undefined &&
            'nothing leads to the facts of its page: a row has neither "id" nor "name"',
        ]),
  ]
  return problems.filter((problem) => typeof problem === 'string')
}

function rowless({ kind }: AnyAction | AnyRecord, path: string | undefined): string {
  const how = 'a GET without parameters in its path, with "listOf" as query and "pageOf" as answer'
  if (kind === 'action') return `it has a page, and is not ${how}`
  return path === undefined ? 'its page needs a "route"' : `its page needs an action that lists ${path}: ${how}`
}

function unknownWord(what: string, word: unknown, words: readonly string[]): string | false {
  if (words.some((one) => one === word)) return false
  if (typeof word !== 'string') return `its page needs "${what}": ${words.join(', ')}`
  const meant = didYouMean(word, words) || `; there are ${words.join(', ')}`
  return `its page has an unknown ${what} "${word}"${meant}`
}

function unknownFields(what: string, names: unknown, { properties }: Row): readonly string[] {
  return (isTexts(names) ? names : [])
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => `its page has a ${what} "${name}", which no row has${didYouMean(name, Object.keys(properties))}`)
}

function isTexts(list: unknown): list is readonly string[] {
  return Array.isArray(list) && list.every((one) => typeof one === 'string')
}
