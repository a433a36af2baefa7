import { useRouter } from '@tanstack/react-router'
import { signOut } from '../api/account.ts'
import { Icon } from '../parts/Icon.tsx'
import { Menu } from '../parts/Menu.tsx'
import { toastError } from '../parts/toast.tsx'
import { useUser } from '../parts/useUser.ts'
import { words } from './words.ts'
import classes from './AccountMenu.module.css'

/** The first letters of the first two words of a name. */
const initials = (name: string) =>
  name
    .split(/[^\p{L}\p{N}]/u)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => word.slice(0, 1).toUpperCase())
    .join('')

export function AccountMenu() {
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
