import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import type { ControlProps, SecretState } from './control.ts'
import { words } from './words.ts'
import classes from './form.module.css'

type Changed = Readonly<Record<string, string | null>>
type Entry = readonly [name: string, value: string]

interface SecretsControlProps extends ControlProps {
  /** The secrets of the map that are set, by name. */
  readonly kept: Readonly<Record<string, SecretState>>
  /** What is wrong with one of them. */
  readonly errorIn: (name: string) => string | undefined
}

/** A map of secrets: those that are set are never shown, but replaced or removed; others are added. */
export function SecretsControl({ field, value, error, kept, errorIn, onChange, onFlaw }: SecretsControlProps) {
  const changed = (typeof value === 'object' && value !== null ? value : {}) as Changed
  const added = Object.entries(changed).filter((entry): entry is [string, string] => !(entry[0] in kept))
  // A name that is typed may still be that of another one.
  const [drafts, setDrafts] = useState<readonly Entry[]>()
  const shown = drafts ?? added
  const old = Object.fromEntries(Object.entries(changed).filter(([name]) => name in kept))
  const put = (next: readonly Entry[]) => {
    const names = [...next.map(([name]) => name), ...Object.keys(kept)]
    const isWhole = new Set(names).size === names.length && !names.includes('')
    setDrafts(isWhole ? undefined : next)
    onFlaw(isWhole ? undefined : words.uniqueNames)
    if (isWhole) onChange({ ...old, ...Object.fromEntries(next) })
  }
  const change = (name: string, to: string | null | undefined) => {
    const { [name]: _, ...others } = changed
    onChange(to === undefined ? others : { ...others, [name]: to })
  }
  return (
    <fieldset className={classes.group} aria-invalid={error !== undefined || undefined}>
      <legend>{field.label}</legend>
      {field.hint !== '' && <p className={classes.hint}>{field.hint}</p>}
      {Object.entries(kept).map(([name, secret]) => (
        <Kept
          key={name}
          name={name}
          secret={secret}
          value={changed[name]}
          error={errorIn(name)}
          onChange={(to) => change(name, to)}
        />
      ))}
      {shown.map(([name, text], at) => (
        // Rows have no identity of their own.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={at} className={classes.entry}>
          <TextInput
            label={words.name}
            value={name}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => put(shown.with(at, [event.currentTarget.value, text]))}
          />
          <TextInput
            label={words.value}
            value={text}
            classNames={{ input: classes.secret ?? '' }}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => put(shown.with(at, [name, event.currentTarget.value]))}
          />
          <Button
            look="quiet"
            icon="close"
            aria-label={words.removeNamed(name || `${field.label} ${at + 1}`)}
            onClick={() => put(shown.toSpliced(at, 1))}
          />
        </div>
      ))}
      {error !== undefined && <p className={classes.error}>{error}</p>}
      <Button small icon="plus" aria-label={words.addTo(field.label)} onClick={() => put([...shown, ['', '']])}>
        {words.add}
      </Button>
    </fieldset>
  )
}

interface KeptProps {
  readonly name: string
  readonly secret: SecretState
  /** What replaces it; null: it is removed. */
  readonly value: string | null | undefined
  /** It has to be entered again. */
  readonly error: string | undefined
  readonly onChange: (value: string | null | undefined) => void
}

function Kept({ name, secret, value, error, onChange }: KeptProps) {
  const state = secret.hint === null ? words.secretKept : words.secretEnds(secret.hint)
  const isAsked = error !== undefined && value === undefined
  return (
    <div className={classes.kept}>
      <span className={classes.label}>{name}</span>
      {typeof value === 'string' || isAsked ? (
        <TextInput
          aria-label={name}
          value={value ?? ''}
          error={value ? undefined : error}
          classNames={{ input: classes.secret ?? '' }}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <span>{value === null ? words.secretGoes : state}</span>
      )}
      {value === undefined ? (
        <>
          <Button small aria-label={words.replaceNamed(name)} onClick={() => onChange('')}>
            {words.replace}
          </Button>
          <Button small aria-label={words.removeNamed(name)} onClick={() => onChange(null)}>
            {words.remove}
          </Button>
        </>
      ) : (
        <Button small aria-label={words.keepNamed(name)} onClick={() => onChange(undefined)}>
          {words.keep}
        </Button>
      )}
    </div>
  )
}
