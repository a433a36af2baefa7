import '@mantine/core/styles/Input.layer.css'
import { TextInput, Textarea } from '@mantine/core'
import { isNamedKind } from '../parts/useNames.ts'
import { NameControl } from './NameControl.tsx'
import { printed } from './control.ts'
import type { ControlProps } from './control.ts'
import { words } from './words.ts'

/** A text, an address, a duration or a name; a long text grows. */
export function TextControl(props: ControlProps) {
  const { field, value, usual, error, onChange } = props
  const names = field.schema['x-names']
  if (isNamedKind(names)) return <NameControl {...props} kind={names} />
  const shared = {
    label: field.label,
    description: field.hint || undefined,
    error,
    withAsterisk: field.required,
    value: printed(value),
    placeholder: printed(usual) || (field.nullable ? words.notSet : undefined),
    autoComplete: 'off',
    spellCheck: field.kind === 'long',
    onChange: (event: { currentTarget: { value: string } }) => {
      const text = event.currentTarget.value
      onChange(text === '' && !field.required ? null : text)
    },
  }
  return field.kind === 'long' ? <Textarea {...shared} autosize minRows={2} maxRows={12} /> : <TextInput {...shared} />
}
