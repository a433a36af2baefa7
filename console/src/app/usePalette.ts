import { useMantineColorScheme } from '@mantine/core'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import type { Answers } from '../api/answers.ts'
import { ask } from '../api/ask.ts'
import { breakers, circuitOf, resetBreaker } from '../api/attention.ts'
import { configurationStatus, configured } from '../api/status.ts'
import { fieldsOf } from '../form/schema.ts'
import type { Field } from '../form/schema.ts'
import { toast, toastError } from '../parts/toast.tsx'
import { namedAs } from '../parts/useNames.ts'
import type { Listed } from '../parts/useNames.ts'
import { useIsAdmin } from '../parts/useUser.ts'
import { useRail } from './Rail.tsx'
import { words } from './words.ts'

/** Something that can be found: a place to go to, or something to do. */
export interface Entry {
  readonly name: string
  readonly kind: string
  readonly path?: string
  readonly act?: () => void
}

/** The lists whose records have a page of their own. */
const lists = [
  { kind: words.kinds.model, screen: '/models/$name', from: '/api/catalog/models', admin: false },
  { kind: words.kinds.pipeline, screen: '/pipelines/$name', from: '/api/config/pipelines', admin: true },
  { kind: words.kinds.provider, screen: '/providers/$name', from: '/api/config/providers?limit=200', admin: true },
  { kind: words.kinds.key, screen: '/keys/$id', from: '/api/api-keys?limit=200', admin: false },
  {
    kind: words.kinds.mcpServer,
    screen: '/mcp-servers/$name',
    from: '/api/mcp/servers?limit=200',
    admin: true,
  },
  { kind: words.kinds.guard, screen: '/guards/$name', from: '/api/guards?limit=200', admin: true },
  { kind: words.kinds.member, screen: '/members/$id', from: '/api/team/members?limit=200', admin: true },
] as const

/** Pages that the rail has no line for. */
const pages = [
  { name: words.accountPage, path: '/account', admin: false },
  { name: words.configurationPage, path: '/configuration', admin: true },
]

/** The forms that make a record. */
const forms = [
  { name: words.add.provider, path: '/providers', search: '?add=1' },
  { name: words.add.model, path: '/models', search: '?add=1' },
  { name: words.add.key, path: '/keys/new', search: '' },
  { name: words.add.member, path: '/members/new', search: '' },
  { name: words.add.mcpServer, path: '/mcp-servers', search: '?add=1' },
  { name: words.add.guard, path: '/guards', search: '?add=1' },
]

/** Every setting by its title, which leads to its field. */
export const settingEntries = queryOptions({
  queryKey: [configured, 'settings'],
  queryFn: async ({ signal }) => {
    const at = '/api/config/server'
    const { data } = await ask<Answers['list-section']>('GET', at, { signal })
    const sections = await Promise.all(
      data.map(({ section }) => ask<Answers['get-section']>('GET', `${at}/${section}`, { signal })),
    )
    return sections.flatMap(({ section, schema }) => entriesOf(section, fieldsOf(schema), words.sectionOf(section)))
  },
  // Schemas change with the configuration alone.
  staleTime: Infinity,
})

const entriesOf = (section: string, fields: readonly Field[], within: string): readonly Entry[] =>
  fields.flatMap(({ kind, path, label, fields: inner }) => {
    const name = words.within(within, label)
    if (kind === 'group') return entriesOf(section, inner, name)
    return [{ name, kind: words.kinds.setting, path: `/settings/${section}?field=${encodeURIComponent(path)}` }]
  })

/** What the user may find, screens first; the settings among it once something is typed. */
export function useEntries(isTyped: boolean): readonly Entry[] {
  const isAdmin = useIsAdmin()
  const rail = useRail()
  const { routesByPath } = useRouter()
  const shown = [...rail.flatMap((group) => group.screens), ...pages.filter((one) => isAdmin || !one.admin)]
  const screens = shown.map(({ name, path }) => ({ name, path, kind: words.kinds.screen }))
  const open = lists.filter(({ screen, admin }) => screen in routesByPath && (isAdmin || !admin))
  const { data: records = [] } = useQuery({
    queryKey: ['palette', ...open.map(({ kind }) => kind)],
    queryFn: async () => {
      const found = await Promise.allSettled(open.map(({ from }) => ask<Listed>('GET', from)))
      return found.flatMap((answer, at) => {
        const list = open[at]
        // A list that cannot be read now leaves the others to be found.
        if (answer.status === 'rejected' || !list) return []
        return answer.value.data.map(namedAs).map(({ value, label }) => ({
          name: label,
          kind: list.kind,
          path: list.screen.replace(/\$\w+$/, encodeURIComponent(value)),
        }))
      })
    },
  })
  const { data: settings = [] } = useQuery({ ...settingEntries, enabled: isAdmin && isTyped })
  return [...screens, ...records, ...useActions(), ...settings]
}

function useActions(): readonly Entry[] {
  const isAdmin = useIsAdmin()
  const queries = useQueryClient()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { data: circuits = [] } = useQuery({ ...breakers, enabled: isAdmin })
  const kind = words.kinds.action
  const reload = () =>
    void ask('POST', '/api/config/reload')
      .then(() => toast(words.reloaded), toastError)
      .finally(() => queries.invalidateQueries({ queryKey: configurationStatus.queryKey }))
  const { routesByPath } = useRouter()
  const dark = colorScheme === 'dark'
  return [
    {
      name: dark ? words.toLight : words.toDark,
      kind,
      act: () => setColorScheme(dark ? 'light' : 'dark'),
    },
    ...(isAdmin ? [{ name: words.reload, kind, act: reload }] : []),
    ...forms
      .filter(({ path }) => isAdmin && path in routesByPath)
      .map(({ name, path, search }) => ({ name, kind, path: path + search })),
    ...circuits
      .filter(({ state }) => state !== 'closed')
      .map((breaker) => ({
        name: words.resetBreaker(circuitOf(breaker)),
        kind,
        act: () =>
          void resetBreaker(breaker)
            .then(() => toast(words.wasReset(circuitOf(breaker))), toastError)
            .finally(() => queries.invalidateQueries({ queryKey: breakers.queryKey })),
      })),
  ]
}
