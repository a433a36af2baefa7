import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import type { AnyRouter } from '@tanstack/react-router'
import { isSetupNeeded } from '../api/account.ts'
import { heldSession } from '../api/session.ts'
import { whenAnswered } from '../parts/load.ts'
import { Toasts } from '../parts/toast.tsx'
import { parseSearch, printSearch } from '../parts/search.ts'
import type { Search } from '../parts/search.ts'
import { Shell } from './shell.tsx'

const root = createRootRoute({
  validateSearch: (search): Search => search as Search,
  component: () => (
    <>
      <Outlet />
      <Toasts />
    </>
  ),
})

/** Everything inside it is for members who are signed in; others come back after they did. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location: { href: to } }) => {
    const session = heldSession()
    if (session?.user.must_change_password) throw redirect({ to: '/new-password', search: { to }, replace: true })
    if (session) return
    // Without an answer, the sign-in says so when it is tried.
    const needed = await isSetupNeeded().catch(() => false)
    if (needed) throw redirect({ to: '/setup', search: {}, replace: true })
    throw redirect({ to: '/sign-in', search: to === '/' ? {} : { to }, replace: true })
  },
})

type Load = () => Promise<{ default: React.ComponentType }>

/** One line a screen: its address, and the file that is loaded when somebody goes there. */
const screen = (path: string, load: Load) =>
  createRoute({ getParentRoute: () => shell, path, component: lazyRouteComponent(() => whenAnswered(load)) })

/** A page before the sign-in. */
const door = (path: string, load: Load) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(() => whenAnswered(load)) })

const screens = [
  screen('/', () => import('../screens/overview/index.tsx')),
  screen('/configuration', () => import('../screens/configuration/index.tsx')),
  screen('/playground', () => import('../screens/playground/index.tsx')),
  screen('/models', () => import('../screens/models/index.tsx')),
  screen('/models/$name', () => import('../screens/models/index.tsx')),
  screen('/settings', () => import('../screens/settings/index.tsx')),
  screen('/settings/$section', () => import('../screens/settings/index.tsx')),
  screen('/providers', () => import('../screens/providers/index.tsx')),
  screen('/providers/$name', () => import('../screens/providers/index.tsx')),
  screen('/quick-start', () => import('../screens/quick-start/index.tsx')),
  screen('/routing', () => import('../screens/routing/index.tsx')),
  screen('/mcp-servers', () => import('../screens/mcp-servers/index.tsx')),
  screen('/mcp-servers/$name', () => import('../screens/mcp-servers/index.tsx')),
  screen('/guards', () => import('../screens/guards/index.tsx')),
  screen('/guards/$name', () => import('../screens/guards/index.tsx')),
  screen('/audit', () => import('../screens/audit/index.tsx')),
  screen('/setup/$step', () => import('../screens/set-up/NextSteps.tsx')),
  screen('/account', () => import('../screens/account/index.tsx')),
  screen('/logs', () => import('../screens/logs/index.tsx')),
  screen('/logs/$id', () => import('../screens/logs/Request.tsx')),
  screen('/pipelines', () => import('../screens/pipelines/index.tsx')),
  screen('/pipelines/$name', () => import('../screens/pipelines/index.tsx')),
  screen('/keys', () => import('../screens/keys/index.tsx')),
  screen('/keys/new', () => import('../screens/keys/NewKey.tsx')),
  screen('/keys/$id', () => import('../screens/keys/OneKey.tsx')),
  screen('/members', () => import('../screens/members/index.tsx')),
  screen('/members/new', () => import('../screens/members/NewMember.tsx')),
  screen('/members/$id', () => import('../screens/members/OneMember.tsx')),
  screen('/pages/$page', () => import('../screens/pages/index.tsx')),
  // Neither a filter of a list nor the id of a record can be called like it.
  screen('/pages/$page/-/$form', () => import('../screens/pages/index.tsx')),
  screen('/pages/$page/$record', () => import('../screens/pages/index.tsx')),
  screen('$', () => import('../screens/no-page/index.tsx')),
]

export const router = createRouter({
  routeTree: root.addChildren([
    door('/sign-in', () => import('../screens/sign-in/index.tsx')),
    door('/setup', () => import('../screens/set-up/index.tsx')),
    door('/new-password', () => import('../screens/new-password/index.tsx')),
    shell.addChildren(screens),
  ]),
  parseSearch,
  stringifySearch: printSearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    // A link may go to the screen of any name: the rail, the palette and the API give paths as texts.
    router: AnyRouter
  }
}
