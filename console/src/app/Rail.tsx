import { Link, useRouter } from '@tanstack/react-router'
import { Fragment } from 'react'
import { useQuery } from '@tanstack/react-query'
import { systemInfo } from '../api/attention.ts'
import { pluginPages } from '../api/pages.ts'
import { configurationStatus } from '../api/status.ts'
import { ago } from '../format.ts'
import { Icon } from '../parts/Icon.tsx'
import { Status } from '../parts/Status.tsx'
import { useIsAdmin } from '../parts/useUser.ts'
import { rail } from './rail-screens.ts'
import type { Screen } from './rail-screens.ts'
import { words } from './words.ts'
import classes from './Rail.module.css'

/** The links to the screens that the user may see. Below 720 px it is a drawer, which Escape closes. */
export function Rail({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const isAdmin = useIsAdmin()
  const groups = useRail()
  return (
    <nav
      id="rail"
      aria-label={words.main}
      className={classes.rail}
      data-open={open || undefined}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      {groups
        .filter(({ screens }) => screens.length > 0)
        .map(({ group, screens }) => (
          <Fragment key={group}>
            <p className={classes.group}>{group}</p>
            <ul className={classes.links}>
              {screens.map(({ path, name, icon }) => (
                <li key={path}>
                  <Link
                    to={path}
                    className={classes.link}
                    title={name}
                    activeOptions={{ exact: path === '/', includeSearch: false }}
                  >
                    <Icon name={icon} size={15} />
                    {name}
                  </Link>
                </li>
              ))}
            </ul>
          </Fragment>
        ))}
      {isAdmin && <ConfigurationFoot className={classes.foot} />}
    </nav>
  )
}

/** The groups of the rail with what the user may see: the screens of the console, then the pages of plugins. */
export function useRail(): readonly { readonly group: string; readonly screens: readonly RailLink[] }[] {
  const isShown = useIsShown()
  const { data: pages = [] } = useQuery(pluginPages)
  return rail.map(({ id, group, screens }) => {
    const own = pages.filter((page) => page.group === id)
    const links = own.map(({ name, title, icon }) => ({ path: `/pages/${name}`, name: title, icon }))
    return { group, screens: [...screens.filter(isShown), ...links] }
  })
}

type RailLink = Pick<Screen, 'path' | 'name' | 'icon'>

/** Tells whether the user may see a screen, and whether this console has it. */
export function useIsShown(): (screen: Screen) => boolean {
  const isAdmin = useIsAdmin()
  const { routesByPath } = useRouter()
  return ({ path, viewers = false }) => (isAdmin || viewers) && path in routesByPath
}

/** Which configuration runs, at the foot of the rail. */
function ConfigurationFoot({ className }: { readonly className: string | undefined }) {
  const { data: status } = useQuery(configurationStatus)
  const { data: system } = useQuery(systemInfo)
  if (!status) return <div className={className} />
  return (
    <div className={className} title={status.version}>
      <Link to="/configuration">
        {status.error ? (
          <Status state="bad">{words.refusedConfiguration}</Status>
        ) : (
          <Status state="good">{words.configuration(status.version.slice(0, 8))}</Status>
        )}
      </Link>
      <div>{[words.loadedAgo(ago(status.loaded_at)), system?.version].filter(Boolean).join(' · ')}</div>
    </div>
  )
}
