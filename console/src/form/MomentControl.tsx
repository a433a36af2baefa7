import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { printMoment, readMoment, useZone } from '../parts/zone.ts'
import { shared } from '../words.ts'
import type { ControlProps } from './control.ts'
import { words } from './words.ts'

/** A moment, typed as `2026-11-23 14:05` in the zone in which times are shown. */
export function MomentControl({ field, value, error, onChange, onFlaw }: ControlProps) {
  const zone = useZone()
  const saved = typeof value === 'string' ? printMoment(value, zone) : ''
  const [typed, setTyped] = useState<string>()
  const take = (text: string) => {
    const moment = readMoment(text, zone)
    setTyped(text)
    onFlaw(text.trim() !== '' && !moment ? words.notMoment : undefined)
    if (text.trim() === '') onChange(null)
    else if (moment) onChange(moment.toISOString())
  }
  return (
    <TextInput
      label={field.label}
      description={field.hint || undefined}
      error={error}
      withAsterisk={field.required}
      value={typed ?? saved}
      placeholder={field.schema['x-null'] ?? words.momentForm}
      autoComplete="off"
      rightSection={shared.zones[zone]}
      rightSectionWidth={80}
      onChange={(event) => take(event.currentTarget.value)}
      onBlur={() => setTyped((text) => (text !== undefined && readMoment(text, zone) ? undefined : text))}
    />
  )
}
