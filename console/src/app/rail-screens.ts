import type { PluginPage } from '../api/pages.ts'
import type { IconName } from '../parts/Icon.tsx'

export interface Screen {
  readonly path: string
  readonly name: string
  readonly icon: IconName
  /** After `g`, the key that goes there. */
  readonly letter: string
  /** Viewers see it, too. */
  readonly viewers?: boolean
  /** The time range and the live indicator act on it. */
  readonly ranged?: boolean
}

interface RailGroup {
  /** The word by which pages of plugins choose it. */
  readonly id: PluginPage['group']
  readonly group: string
  readonly screens: readonly Screen[]
}

/** The screens of the rail, in order. One is shown as soon as the router has its path. */
export const rail: readonly RailGroup[] = [
  {
    id: 'watch',
    group: 'Watch',
    screens: [
      { path: '/', name: 'Overview', icon: 'overview', letter: 'o', viewers: true, ranged: true },
      { path: '/logs', name: 'Logs', icon: 'logs', letter: 'l', viewers: true, ranged: true },
      { path: '/pipelines', name: 'Pipelines', icon: 'pipelines', letter: 'p', ranged: true },
      { path: '/routing', name: 'Routing', icon: 'routing', letter: 'r', ranged: true },
    ],
  },
  {
    id: 'use',
    group: 'Use',
    screens: [
      { path: '/playground', name: 'Playground', icon: 'playground', letter: 'y', viewers: true },
      { path: '/quick-start', name: 'Quick start', icon: 'quick-start', letter: 'q', viewers: true },
    ],
  },
  {
    id: 'configure',
    group: 'Configure',
    screens: [
      { path: '/models', name: 'Models', icon: 'models', letter: 'm', viewers: true },
      { path: '/providers', name: 'Providers', icon: 'providers', letter: 'v' },
      { path: '/keys', name: 'API keys', icon: 'keys', letter: 'k', viewers: true },
      { path: '/members', name: 'Members', icon: 'account', letter: 't' },
      { path: '/mcp-servers', name: 'MCP servers', icon: 'mcp-servers', letter: 'c' },
      { path: '/guards', name: 'Guards', icon: 'guards', letter: 'g' },
      { path: '/settings', name: 'Settings', icon: 'settings', letter: 's' },
      { path: '/audit', name: 'Audit', icon: 'audit', letter: 'a' },
    ],
  },
]

/** The screen of the rail that a path belongs to. */
export function screenAt(pathname: string): Screen | undefined {
  return rail
    .flatMap(({ screens }) => screens)
    .find(({ path }) => (path === '/' ? pathname === '/' : `${pathname}/`.startsWith(`${path}/`)))
}
