import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { count, numberOf } from '../format.ts'
import { printed } from './control.ts'
import type { ControlProps } from './control.ts'
import type { Schema } from './schema.ts'
import { words } from './words.ts'

/** A number, with its unit at the right and its bounds below. */
export function NumberControl({ field, value, usual, error, onChange, onFlaw }: ControlProps) {
  // What is typed may be no number yet, such as "-".
  const [typed, setTyped] = useState<string>()
  const { 'x-unit': unit } = field.schema
  const bounds = boundsOf(field.schema)
  const hint = [field.hint, bounds].filter((part) => part !== '').join(' ')
  const take = (text: string) => {
    const number = numberOf(text)
    if (text.trim() === '') onChange(null)
    else if (Number.isFinite(number)) onChange(number)
    const isWrong = text.trim() !== '' && !Number.isFinite(number)
    setTyped(isWrong || (text !== '' && String(number) !== text) ? text : undefined)
    onFlaw(isWrong ? words.notNumber : undefined)
  }
  return (
    <TextInput
      label={field.label}
      description={hint || undefined}
      error={error}
      withAsterisk={field.required}
      value={typed ?? printed(value)}
      inputMode="decimal"
      autoComplete="off"
      placeholder={printed(usual) || (field.nullable ? words.notSet : undefined)}
      rightSection={unit}
      rightSectionWidth={unit === undefined ? undefined : unit.length * 8 + 16}
      onChange={(event) => take(event.currentTarget.value)}
      onBlur={() => {
        if (typed !== undefined && Number.isFinite(numberOf(typed))) setTyped(undefined)
      }}
    />
  )
}

function boundsOf({ minimum, maximum }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return `${words.range(count(minimum), count(maximum))}.`
  // Nobody has to be told that a count is not below 1.
  if (minimum !== undefined && minimum > 1) return `${words.rangeFrom(count(minimum))}.`
  return maximum === undefined ? '' : `${words.rangeTo(count(maximum))}.`
}
