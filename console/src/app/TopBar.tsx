import { Link, useLocation, useRouter } from '@tanstack/react-router'
import { useMantineColorScheme } from '@mantine/core'
import type { MantineColorScheme } from '@mantine/core'
import { signOut } from '../api/account.ts'
import { Button } from '../parts/Button.tsx'
import { Icon } from '../parts/Icon.tsx'
import { Menu } from '../parts/Menu.tsx'
import { toastError } from '../parts/toast.tsx'
import { useLive } from '../parts/useLive.ts'
import { useUser } from '../parts/useUser.ts'
import { shared } from '../words.ts'
import { Mark } from '../parts/Mark.tsx'
import { RangePicker } from './RangePicker.tsx'
import { screenAt } from './rail-screens.ts'
import { words } from './words.ts'
import classes from './TopBar.module.css'

interface TopBarProps {
  readonly menuOpen: boolean
  readonly onMenu: () => void
  readonly onSearch: () => void
}

/** The bar on top of every page. Range and live indicator are there only where they act on something. */
export function TopBar({ menuOpen, onMenu, onSearch }: TopBarProps) {
  const { pathname } = useLocation()
  const ranged = screenAt(pathname)?.ranged ?? false
  return (
    <header className={classes.bar}>
      <Button
        className={classes.menu}
        look="quiet"
        icon="menu"
        aria-label={words.menu}
        aria-expanded={menuOpen}
        aria-controls="rail"
        onClick={onMenu}
      />
      <Link to="/" className={classes.mark} aria-label={shared.product}>
        <Mark />
        <span>{shared.product}</span>
      </Link>
      <Button
        className={classes.search}
        icon="search"
        aria-label={`${words.searchHint} ${words.ctrlK}`}
        aria-keyshortcuts="Control+K"
        onClick={onSearch}
      >
        <span>{words.searchHint}</span>
        <kbd>{words.ctrlK}</kbd>
      </Button>
      <div className={classes.space} />
      {ranged && <LiveIndicator />}
      {ranged && <RangePicker />}
      <ThemeMenu />
      <AccountMenu />
    </header>
  )
}

/** Says whether the page moves, and switches it. Its changes are told politely; what comes in is not. */
function LiveIndicator() {
  const { shows, reconnecting, toggle } = useLive()
  const word = { live: words.live, paused: words.paused, reconnecting: words.reconnecting(reconnecting ?? 0) }[shows]
  return (
    <>
      <Button onClick={toggle} aria-pressed={shows !== 'paused'}>
        <span className={classes.shape} data-shows={shows} aria-hidden="true" />
        {word}
      </Button>
      <span className="visually-hidden" role="status">
        {shows === 'reconnecting' ? null : word}
      </span>
    </>
  )
}

function ThemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu>
      <Menu.Target>
        <Button
          look="quiet"
          icon={colorScheme === 'dark' ? 'dark' : colorScheme === 'light' ? 'light' : 'system'}
          aria-label={words.theme}
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}>
          <Menu.RadioItem value="light">{words.light}</Menu.RadioItem>
          <Menu.RadioItem value="dark">{words.dark}</Menu.RadioItem>
          <Menu.RadioItem value="auto">{words.system}</Menu.RadioItem>
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  )
}

/** The first letters of the first two words of a name. */
const initials = (name: string) =>
  name
    .split(/[^\p{L}\p{N}]/u)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => word.slice(0, 1).toUpperCase())
    .join('')

function AccountMenu() {
  const user = useUser()
  const router = useRouter()
  if (!user) return null
  return (
    <Menu>
      <Menu.Target>
        <button type="button" className={classes.avatar} aria-label={words.account(user.username)}>
          {initials(user.username) || <Icon name="account" size={14} />}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{`${user.username} · ${user.isAdmin ? words.admin : words.viewer}`}</Menu.Label>
        <Menu.Item onClick={() => void router.navigate({ to: '/account' })}>{words.accountPage}</Menu.Item>
        <Menu.Item onClick={() => void signOut().catch(toastError)}>{words.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
