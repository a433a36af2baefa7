import { Link, useLocation } from '@tanstack/react-router'
import { Button } from '../parts/Button.tsx'
import { shared } from '../words.ts'
import { AccountMenu } from './AccountMenu.tsx'
import { LiveIndicator } from './LiveIndicator.tsx'
import { Mark } from '../parts/Mark.tsx'
import { RangePicker } from './RangePicker.tsx'
import { screenAt } from './rail-screens.ts'
import { ThemeMenu } from './ThemeMenu.tsx'
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
