import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import { Popover, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '../parts/Button.tsx'
import { Icon } from '../parts/Icon.tsx'
import { Segments } from '../parts/Segments.tsx'
import { ranges, useRange } from '../parts/useRange.ts'
import type { Range, RangeName } from '../parts/useRange.ts'
import { chooseZone, printMoment, readMoment, useZone } from '../parts/zone.ts'
import type { Zone } from '../parts/zone.ts'
import { words } from './words.ts'
import classes from './RangePicker.module.css'

/** Chooses the time range of the page: a span that moves with time, or two moments. */
export function RangePicker() {
  const [open, setOpen] = useState(false)
  const range = useRange()
  const zone = useZone()
  const label = labelOf(range, zone)
  const choose = (name: RangeName) => {
    range.choose(name)
    setOpen(false)
  }
  const zoneName = zone === 'utc' ? words.utc : words.local
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-end" offset={6} trapFocus returnFocus>
      <Popover.Target>
        <Button onClick={() => setOpen(!open)} aria-label={words.timeRange(`${label} ${zoneName}`)}>
          {label} <span className={classes.zone}>{zoneName}</span>
          <Icon name="chevron-down" size={12} />
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={classes.panel ?? ''} aria-label={words.rangeDialog}>
        <div className={classes.presets}>
          {(Object.keys(ranges) as RangeName[]).map((name) => (
            <button key={name} type="button" aria-pressed={range.name === name} onClick={() => choose(name)}>
              {words.ranges[name]}
            </button>
          ))}
        </div>
        <Custom key={range.key} range={range} onDone={() => setOpen(false)} />
        <Segments
          label={words.zone}
          value={zone}
          onChange={chooseZone}
          options={[
            { value: 'utc', label: words.utc },
            { value: 'local', label: words.local },
          ]}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

/** Two moments as they are typed, in the zone in which times are shown. */
function Custom({ range, onDone }: { readonly range: Range; readonly onDone: () => void }) {
  const zone = useZone()
  const bounds = range.bounds()
  const [from, setFrom] = useState(range.name ? '' : printMoment(bounds.since, zone))
  const [to, setTo] = useState(bounds.until === undefined ? words.now : printMoment(bounds.until, zone))
  const [wrong, setWrong] = useState<{ readonly from?: string; readonly to?: string }>({})
  const apply = (event: FormEvent) => {
    event.preventDefault()
    const [since, until] = [readMoment(from, zone), to.trim() === words.now ? new Date() : readMoment(to, zone)]
    if (!since || !until)
      return setWrong({ ...(!since && { from: words.wrongMoment }), ...(!until && { to: words.wrongMoment }) })
    if (since >= until) return setWrong({ from: words.wrongOrder })
    range.between(since, until)
    onDone()
  }
  return (
    <form className={classes.custom} onSubmit={apply}>
      <TextInput
        label={words.from}
        placeholder={words.momentHint}
        value={from}
        error={wrong.from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
      <TextInput
        label={words.to}
        placeholder={words.momentHint}
        value={to}
        error={wrong.to}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <Button type="submit">{words.apply}</Button>
    </form>
  )
}

function labelOf(range: Range, zone: Zone): string {
  if (range.name) return words.ranges[range.name]
  const { since, until } = range.bounds()
  return `${printMoment(since, zone)} – ${until === undefined ? words.now : printMoment(until, zone)}`
}
