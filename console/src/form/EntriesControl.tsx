import { useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { TextInput } from '@mantine/core'
import { Button } from '../parts/Button.tsx'
import type { Bindings, ControlProps } from './control.ts'
import { replaced, valueAt } from './draft.ts'
import type { Field, Json } from './schema.ts'
import { words } from './words.ts'
import classes from './form.module.css'

type JsonMap = { readonly [name: string]: Json }
type Entry = readonly [name: string, value: Json]

interface EntriesControlProps extends ControlProps {
  readonly bindings: Bindings
  readonly draw: (entry: Field, bindings: Bindings) => ReactNode
}

/** A list of objects as rows that repeat, or a map as rows of name and value. */
export function EntriesControl(props: EntriesControlProps) {
  const { field, value, error, secret, onChange, bindings, draw } = props
  const isMap = field.kind === 'map'
  const entries = entriesOf(value, isMap)
  // A name that is typed may still equal another one, so that it cannot be the map's yet.
  const [drafts, setDrafts] = useState<readonly Entry[]>()
  const shown = drafts ?? entries
  const put = (next: readonly Entry[]) => {
    const names = next.map(([name]) => name)
    const isWhole = !isMap || (new Set(names).size === names.length && !names.includes(''))
    setDrafts(isWhole ? undefined : next)
    props.onFlaw(isWhole ? undefined : words.needed)
    if (isWhole) onChange(isMap ? Object.fromEntries(next) : next.map(([, one]) => one))
  }
  // What is typed into a row and is no value yet stays with it. A row that was not here before gets the next number.
  const [known, setKnown] = useState<readonly number[]>([])
  const ids = shown.map((_, at) => known[at] ?? Math.max(-1, ...known) + 1 + at - known.length)
  const add = useRef<HTMLButtonElement>(null)
  const remove = (at: number, button: HTMLButtonElement) => {
    const next = button.parentElement?.nextElementSibling?.querySelector<HTMLElement>(':scope > button:last-child')
    ;(next ?? add.current)?.focus()
    setKnown(ids.toSpliced(at, 1))
    put(shown.toSpliced(at, 1))
  }
  const item = field.item
  if (!item) return null
  return (
    <fieldset className={classes.group} aria-invalid={error !== undefined || undefined}>
      <legend>{field.label}</legend>
      {field.hint !== '' && <p className={classes.hint}>{field.hint}</p>}
      {secret?.set && shown.length === 0 && <p className={classes.hint}>{words.secretKept}</p>}
      {shown.map(([name, one], at) => {
        const replace = (entry: Entry) => put(shown.with(at, entry))
        const place = isMap ? `${field.path}.${name}` : `${field.path}[${at}]`
        const what = isMap && name !== '' ? name : `${field.label} ${at + 1}`
        return (
          <div key={ids[at]} className={classes.entry}>
            {isMap && (
              <TextInput
                label={words.name}
                value={name}
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => replace([event.currentTarget.value, one])}
              />
            )}
            {draw(
              { ...item, label: isMap ? words.value : what, required: true },
              within(bindings, place, one, {
                onChange: (changed) => replace([name, changed]),
                secretOf: (path) => bindings.secretOf(`${field.path}[${ids[at]}].${path}`),
              }),
            )}
            <Button
              look="quiet"
              icon="close"
              aria-label={words.removeNamed(what)}
              onClick={(event) => remove(at, event.currentTarget)}
            />
          </div>
        )
      })}
      {error !== undefined && <p className={classes.error}>{error}</p>}
      <Button
        ref={add}
        small
        icon="plus"
        onClick={() => put([...shown, ['', emptyOf(item)]])}
        aria-label={words.addTo(field.label)}
      >
        {words.add}
      </Button>
    </fieldset>
  )
}

function entriesOf(value: Json | undefined, isMap: boolean): readonly Entry[] {
  if (typeof value !== 'object' || value === null) return []
  if (isMap) return Object.entries(value as JsonMap)
  return Array.isArray(value) ? (value as readonly Json[]).map((one) => ['', one] as const) : []
}

const emptyOf = ({ kind, schema, options }: Field): Json =>
  schema.default ?? (kind === 'group' ? {} : kind === 'switch' ? false : kind === 'choice' ? (options[0] ?? '') : '')

/** How one entry changes, and which of its secrets are set. */
interface OfEntry extends Pick<Bindings, 'secretOf'> {
  readonly onChange: (changed: Json) => void
}

/** Bindings for one entry: its paths begin at itself. */
function within(bindings: Bindings, place: string, entry: Json, { secretOf, onChange }: OfEntry): Bindings {
  const full = (path: string) => (path === '' ? place : `${place}.${path}`)
  return {
    ...bindings,
    valueOf: (path) => (path === '' ? entry : valueAt(entry, path)),
    usualOf: () => undefined,
    errorOf: (path) => bindings.errorOf(full(path)),
    secretOf,
    isTouched: () => true,
    asideOf: undefined,
    placeOf: (path) => bindings.placeOf(full(path)),
    onChange: (path, value) => onChange(path === '' ? value : replaced(entry, path, value)),
    onKeep: (path) => onChange(without(entry, path)),
  }
}

/** An entry that leaves a secret as it is saved. */
function without(entry: Json, name: string): Json {
  const rest = Object.entries(entry as JsonMap).filter(([field]) => field !== name)
  return Object.fromEntries(rest)
}
