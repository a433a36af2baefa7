import '@mantine/core/styles/CloseButton.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/ScrollArea.layer.css'
import { Input, Select } from '@mantine/core'
import { useId } from 'react'
import { Segments } from '../parts/Segments.tsx'
import { printed } from './control.ts'
import type { ControlProps } from './control.ts'
import { words } from './words.ts'

/** One of several: side by side up to four, else a list to search. */
export function ChoiceControl({ field, value, usual, error, onChange }: ControlProps) {
  const id = useId()
  const unset = field.nullable || !field.required
  const options = field.options.map((option) => ({ value: JSON.stringify(option), label: printed(option) }))
  const shown = JSON.stringify(value ?? usual ?? null)
  const mayShowUnset = unset && (usual === undefined || usual === null)
  if (options.length + (mayShowUnset ? 1 : 0) > 4)
    return (
      <Select
        label={field.label}
        description={field.hint || undefined}
        error={error}
        withAsterisk={field.required}
        data={options}
        value={value === undefined || value === null ? null : JSON.stringify(value)}
        placeholder={printed(usual) || words.notSet}
        clearable={unset}
        searchable
        onChange={(text) => onChange(text === null ? null : (JSON.parse(text) as string))}
      />
    )
  const all = mayShowUnset ? [{ value: 'null', label: words.notSet }, ...options] : options
  return (
    <Input.Wrapper id={id} labelElement="div" label={field.label} description={field.hint || undefined} error={error}>
      <div>
        <Segments
          label={field.label}
          options={all}
          value={shown}
          onChange={(text) => onChange(JSON.parse(text) as string)}
        />
      </div>
    </Input.Wrapper>
  )
}
