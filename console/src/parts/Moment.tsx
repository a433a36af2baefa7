import { clock, relative } from '../format.ts'
import { shared } from '../words.ts'
import { useZone } from './zone.ts'

/** A moment: how long ago it was or how far ahead it is, or with `exact` its time; a pointer that rests on it sees the other. */
export function Moment({ at, exact = false }: { readonly at: string; readonly exact?: boolean }) {
  const zone = useZone()
  const absolute = clock(at, zone)
  return (
    <time dateTime={at} title={exact ? relative(at) : shared.momentInZone(absolute, shared.zones[zone])}>
      {exact ? absolute : relative(at)}
    </time>
  )
}
