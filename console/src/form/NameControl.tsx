import '@mantine/core/styles/CloseButton.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/ScrollArea.layer.css'
import { Select } from '@mantine/core'
import { useNames } from '../parts/useNames.ts'
import type { NamedKind } from '../parts/useNames.ts'
import { printed } from './control.ts'
import type { ControlProps } from './control.ts'
import { words } from './words.ts'

/** The name of a record, chosen from the list of its kind. */
export function NameControl({
  field,
  value,
  usual,
  error,
  onChange,
  kind,
}: ControlProps & { readonly kind: NamedKind }) {
  const names = useNames(kind)
  const chosen = typeof value === 'string' && value !== '' ? value : null
  // An alias, or a name that is gone or not loaded, is shown as it is.
  const data =
    chosen === null || names.some((name) => name.value === chosen)
      ? names
      : [...names, { value: chosen, label: chosen }]
  return (
    <Select
      label={field.label}
      description={field.hint || undefined}
      error={error}
      withAsterisk={field.required}
      data={[...data]}
      value={chosen}
      placeholder={printed(usual) || field.schema['x-null'] || words.notSet}
      searchable
      clearable={!field.required}
      onChange={onChange}
    />
  )
}
