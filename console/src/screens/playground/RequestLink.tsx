import { Link } from '@tanstack/react-router'
import { words } from './words.ts'

interface RequestLinkProps {
  /** Its id, or its reference. */
  readonly id: string
  /** Its row in the log, once it is written. */
  readonly row: { readonly id: string } | null | undefined
}

/** To a request in the log. */
export function RequestLink({ id, row }: RequestLinkProps) {
  const place = row ? { to: `/logs/${row.id}` } : { to: '/logs', search: { search: id } }
  return <Link {...place}>{words.requestOf((row?.id ?? id).slice(0, 8))}</Link>
}
