import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/CloseButton.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Pill.layer.css'
import '@mantine/core/styles/PillsInput.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import { Checkbox, TagsInput } from '@mantine/core'
import { isNamedKind, useNames } from '../parts/useNames.ts'
import { printed } from './control.ts'
import type { ControlProps } from './control.ts'
import { NullableList } from './NullableList.tsx'
import type { Json } from './schema.ts'
import classes from './form.module.css'

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])

/** Several texts, as tags; or some of a few, as boxes. */
export function ListControl({ field, value, usual, error, onChange }: ControlProps) {
  const kind = field.schema.items?.['x-names']
  const names = useNames(isNamedKind(kind) ? kind : undefined).map(({ value: name }) => name)
  const chosen = listOf(value ?? (field.kind === 'boxes' ? usual : undefined))
  if (field.kind === 'boxes')
    return (
      <Checkbox.Group
        label={field.label}
        description={field.hint || undefined}
        error={error}
        value={chosen.map((one) => JSON.stringify(one))}
        onChange={(texts) => onChange(field.options.filter((option) => texts.includes(JSON.stringify(option))))}
      >
        <div className={classes.boxes}>
          {field.options.map((option) => (
            <Checkbox key={JSON.stringify(option)} value={JSON.stringify(option)} label={printed(option)} size="xs" />
          ))}
        </div>
      </Checkbox.Group>
    )
  const tags = (
    <TagsInput
      // Inside, the label above names the choice; a reader hears the same name for the field.
      {...(field.nullable
        ? { 'aria-label': field.label }
        : { label: field.label, description: field.hint || undefined, withAsterisk: field.required })}
      error={error}
      data={[...names]}
      value={chosen.map(printed)}
      placeholder={chosen.length === 0 ? listOf(usual).map(printed).join(', ') || undefined : undefined}
      acceptValueOnBlur
      splitChars={[',', '\n']}
      onChange={(texts) => onChange(texts)}
    />
  )
  if (!field.nullable) return tags
  return (
    <NullableList field={field} value={value} error={error} onChange={onChange}>
      {tags}
    </NullableList>
  )
}
