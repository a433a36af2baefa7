import '@mantine/core/styles/ActionIcon.layer.css'
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/PasswordInput.layer.css'
import { PasswordInput } from '@mantine/core'
import { shared } from '../words.ts'

interface PasswordFieldProps {
  readonly label: string
  readonly value: string
  readonly error?: string | undefined
  readonly autoComplete?: 'new-password' | 'current-password'
  readonly autoFocus?: boolean
  readonly onChange: (value: string) => void
}

/** A field for a password, with a button that shows what is typed. */
export function PasswordField({
  label,
  value,
  error,
  autoComplete = 'new-password',
  autoFocus = false,
  onChange,
}: PasswordFieldProps) {
  return (
    <PasswordInput
      label={label}
      value={value}
      error={error}
      // Mantine says it of every field but this one.
      aria-invalid={error === undefined ? undefined : true}
      autoComplete={autoComplete}
      autoFocus={autoFocus}
      data-autofocus={autoFocus || undefined}
      visibilityToggleButtonProps={{ 'aria-label': shared.showPassword, tabIndex: 0 }}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
