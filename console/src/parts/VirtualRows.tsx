import { useVirtualizer } from '@tanstack/react-virtual'
import type { ReactNode } from 'react'

interface VirtualRowsProps {
  readonly rows: readonly unknown[]
  /** What scrolls; null: it is not there yet. */
  readonly region: HTMLElement | null
  readonly draw: (row: unknown, index: number) => ReactNode
  /** How many columns there are. */
  readonly width: number
}

/** How high a row is. */
const rowHeight = 32

/** The body of a long table: the rows in view and some around them, between two empty ones as high as the rest. */
export default function VirtualRows({ region, ...all }: VirtualRowsProps) {
  if (region) return <InView region={region} {...all} />
  // As high as it will be, so that the region can already scroll to where it was.
  return (
    <tbody>
      <Gap height={all.rows.length * rowHeight} width={all.width} />
    </tbody>
  )
}

function InView({ rows, region, draw, width }: VirtualRowsProps & { readonly region: HTMLElement }) {
  // The compiler of React, which this rule is for, is not used here.
  // oxlint-disable-next-line react/incompatible-library
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => region,
    estimateSize: () => rowHeight,
    overscan: 12,
    // The first picture has the rows that are in view, so that a list which becomes long stays where it is.
    initialOffset: () => region.scrollTop,
    initialRect: { width: 0, height: region.clientHeight },
  })
  const items = virtual.getVirtualItems()
  const above = items[0]?.start ?? 0
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0)
  return (
    <tbody>
      <Gap height={above} width={width} />
      {items.map(({ index }) => draw(rows[index], index))}
      <Gap height={below} width={width} />
    </tbody>
  )
}

function Gap({ height, width }: { readonly height: number; readonly width: number }) {
  if (height <= 0) return null
  return (
    <tr aria-hidden="true">
      <td colSpan={width} style={{ height, padding: 0, border: 0 }} />
    </tr>
  )
}
