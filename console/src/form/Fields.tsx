import { useEffect, useRef, useState } from 'react'
import { Icon } from '../parts/Icon.tsx'
import { ChoiceControl } from './ChoiceControl.tsx'
import { textOf } from './control.ts'
import type { Bindings } from './control.ts'
import { EntriesControl } from './EntriesControl.tsx'
import { GroupControl } from './GroupControl.tsx'
import { JsonControl } from './JsonControl.tsx'
import { ListControl } from './ListControl.tsx'
import { MomentControl } from './MomentControl.tsx'
import { NumberControl } from './NumberControl.tsx'
import type { Field, Json } from './schema.ts'
import { SecretControl } from './SecretControl.tsx'
import { SecretsControl } from './SecretsControl.tsx'
import { SwitchControl } from './SwitchControl.tsx'
import { TextControl } from './TextControl.tsx'
import { VariantsControl } from './VariantsControl.tsx'
import { words } from './words.ts'
import classes from './form.module.css'

interface FieldsProps {
  readonly fields: readonly Field[]
  readonly bindings: Bindings
}

/** Fields in the order of their schema; what need not be given, and is at its default, is folded. */
export function Fields({ fields, bindings }: FieldsProps) {
  const [open, setOpen] = useState(false)
  const isUsed = (field: Field): boolean =>
    field.readOnly ||
    field.path === bindings.wanted ||
    bindings.errorOf(field.path) !== undefined ||
    bindings.isTouched(field.path) ||
    field.fields.some(isUsed) ||
    !isEmpty(bindings.valueOf(field.path))
  const folded = fields.filter((field) => field.advanced && !isUsed(field))
  // Two or three need no fold of their own.
  const isFolding = folded.length > 3
  const first = isFolding ? fields.filter((field) => !folded.includes(field)) : fields
  const draw = (field: Field) => <FieldRow key={field.path} field={field} bindings={bindings} />
  return (
    <div className={classes.fields}>
      {first.map(draw)}
      {isFolding && (
        <>
          <button type="button" className={classes.fold} aria-expanded={open} onClick={() => setOpen(!open)}>
            <Icon name={open ? 'chevron-down' : 'chevron-right'} size={12} />
            {words.advanced(folded.length, 0)}
          </button>
          {open && folded.map(draw)}
        </>
      )}
    </div>
  )
}

const isEmpty = (value: Json | undefined) =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)

function FieldRow({ field, bindings }: { readonly field: Field; readonly bindings: Bindings }) {
  const { path } = field
  const aside = field.kind === 'group' ? undefined : bindings.asideOf?.(path)
  return (
    <div className={classes.row} data-field={path} data-touched={bindings.isTouched(path) || undefined}>
      <div className={classes.control}>
        {field.readOnly ? <Fixed field={field} bindings={bindings} /> : <Control field={field} bindings={bindings} />}
      </div>
      {aside !== undefined && <div className={classes.aside}>{aside}</div>}
    </div>
  )
}

/** A value that something else decides: text that can be read and copied. */
function Fixed({ field, bindings }: { readonly field: Field; readonly bindings: Bindings }) {
  const { path, label, hint, schema } = field
  const value = bindings.valueOf(path) ?? bindings.usualOf(path) ?? schema.default
  const kept = Object.entries(bindings.secretsIn(path)).map(([name, secret]) => [`${path}.${name}`, secret])
  const secrets = { [path]: bindings.secretOf(path), ...Object.fromEntries(kept) }
  return (
    <dl className={classes.fixed}>
      <dt>{label}</dt>
      <dd className={classes.hint}>{hint}</dd>
      <dd>{textOf(field, value, secrets)}</dd>
    </dl>
  )
}

/** What is typed into a control and is no value goes with the control: to another place, or away. */
function useFlaw(place: string, { onFlaw }: Bindings) {
  const tell = useRef(onFlaw)
  const flaw = useRef<string>(undefined)
  useEffect(() => {
    tell.current = onFlaw
  })
  useEffect(() => {
    if (flaw.current !== undefined) tell.current(place, flaw.current)
    return () => tell.current(place, undefined)
  }, [place])
  return (found: string | undefined) => {
    flaw.current = found
    onFlaw(place, found)
  }
}

/** The control of a field, by its kind. */
function Control({ field, bindings }: { readonly field: Field; readonly bindings: Bindings }) {
  const { path } = field
  const onFlaw = useFlaw(bindings.placeOf(path), bindings)
  const props = {
    field,
    value: bindings.valueOf(path),
    usual: bindings.usualOf(path) ?? field.schema.default,
    error: bindings.errorOf(path),
    secret: bindings.secretOf(path),
    onChange: (value: Json) => bindings.onChange(path, value),
    onKeep: () => bindings.onKeep(path),
    onFlaw,
  }
  switch (field.kind) {
    case 'text':
    case 'long':
    case 'address':
    case 'duration':
      return <TextControl {...props} />
    case 'number':
      return <NumberControl {...props} />
    case 'moment':
      return <MomentControl {...props} />
    case 'secret':
      return <SecretControl {...props} />
    case 'switch':
      return <SwitchControl {...props} />
    case 'choice':
      return <ChoiceControl {...props} />
    case 'tags':
    case 'boxes':
      return <ListControl {...props} />
    case 'secrets':
      return (
        <SecretsControl
          {...props}
          kept={bindings.secretsIn(path)}
          errorIn={(name) => bindings.errorOf(`${path}.${name}`)}
        />
      )
    case 'rows':
    case 'map':
      return <EntriesControl {...props} bindings={bindings} draw={drawEntry} />
    case 'variants':
      return <VariantsControl {...props} bindings={bindings} draw={drawFields} />
    case 'group':
      return (
        <GroupControl {...props}>
          <Fields fields={field.fields} bindings={bindings} />
        </GroupControl>
      )
    case 'json':
      return <JsonControl {...props} />
  }
}

const drawFields = (fields: readonly Field[], bindings: Bindings) => <Fields fields={fields} bindings={bindings} />

/** An entry of a list or a map: the fields of an object, or one control. */
const drawEntry = (entry: Field, bindings: Bindings) =>
  entry.kind === 'group' ? drawFields(entry.fields, bindings) : <Control field={entry} bindings={bindings} />
