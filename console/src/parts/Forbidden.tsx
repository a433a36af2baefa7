import { shared } from '../words.ts'
import { Empty } from './Empty.tsx'

/** A screen that viewers reached by its address. `what` goes on after "Only admins see". */
export function Forbidden({ what }: { readonly what: string }) {
  return <Empty text={shared.onlyAdmins(what)} />
}
