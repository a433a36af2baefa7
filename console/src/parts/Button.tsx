import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, Ref } from 'react'
import { Icon } from './Icon.tsx'
import type { IconName } from './Icon.tsx'
import classes from './Button.module.css'

interface Looks {
  /** `primary`: the one thing that people come to do here; `danger`: it takes something away; `quiet`: no border. */
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet'
  readonly small?: boolean
  readonly icon?: IconName
}

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement>, Looks {
  /** What it does is under way: it stays focused, and presses do nothing. */
  readonly busy?: boolean
  readonly ref?: Ref<HTMLButtonElement>
}

const looksOf = ({ look = 'plain', small, icon }: Looks, children: unknown) => ({
  'data-look': look,
  'data-small': small || undefined,
  'data-square': (icon !== undefined && !children) || undefined,
})

export function Button({
  look,
  small = false,
  icon,
  busy = false,
  className,
  onClick,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      {...looksOf({ ...(look && { look }), small, ...(icon && { icon }) }, children)}
      className={[classes.button, className].join(' ')}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      {icon && !busy && <Icon name={icon} size={14} />}
      {children}
    </button>
  )
}

type AnchorProps = AnchorHTMLAttributes<HTMLAnchorElement> & Looks & { readonly ref?: Ref<HTMLAnchorElement> }

function Anchor({ look, small = false, icon, className, children, ...rest }: AnchorProps) {
  return (
    <a
      {...rest}
      {...looksOf({ ...(look && { look }), small, ...(icon && { icon }) }, children)}
      className={[classes.button, className].join(' ')}
    >
      {icon && <Icon name={icon} size={14} />}
      {children}
    </a>
  )
}

/** A link to a screen that looks like a button. */
export const ButtonLink = createLink(Anchor)
