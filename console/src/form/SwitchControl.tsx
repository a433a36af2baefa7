import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Switch } from '@mantine/core'
import type { ControlProps } from './control.ts'

/** On or off; its hint says what "on" does. */
export function SwitchControl({ field, value, usual, error, onChange }: ControlProps) {
  return (
    <Switch
      label={field.label}
      description={field.hint || undefined}
      error={error}
      checked={(value ?? usual) === true}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  )
}
