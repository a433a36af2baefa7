import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { models } from '../../catalog/models.ts'
import type { CatalogModel } from '../../catalog/models.ts'
import { Button } from '../../parts/Button.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { useUser } from '../../parts/useUser.ts'
import { makeKey, mayMakeKeys } from './api.ts'
import { Field } from './Field.tsx'
import { useKey } from '../../parts/useKey.ts'
import { words } from './words.ts'
import classes from './playground.module.css'

interface ClientProps {
  readonly model: string
  readonly onModel: (model: string) => void
  /** The models that are offered; any other name can be typed. */
  readonly fits?: (model: CatalogModel) => boolean
  /** A request was tried without a key. */
  readonly needsKey: boolean
  /** Between the model and the key. */
  readonly beside?: ReactNode
  /** After the key. */
  readonly children?: ReactNode
}

/** What every request needs: a model and an API key. */
export function Client({ model, onModel, fits, needsKey, beside, children }: ClientProps) {
  const [key, holdKey] = useKey()
  return (
    <>
      <div className={classes.bar}>
        <ModelField label={words.model} value={model} onChange={onModel} {...(fits && { fits })} />
        {beside}
        <Field label={words.key} hint={words.keyHint} className={classes.key}>
          {(id) => (
            <input
              id={id}
              className={classes.secret}
              value={key}
              autoComplete="off"
              spellCheck={false}
              aria-invalid={needsKey}
              onChange={(event) => holdKey(event.currentTarget.value)}
            />
          )}
        </Field>
        <MakeKey onKey={holdKey} />
        {children}
      </div>
      {needsKey && (
        <p role="alert" className={classes.error}>
          {words.needsKey}
        </p>
      )}
    </>
  )
}

interface ModelFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (model: string) => void
  readonly fits?: (model: CatalogModel) => boolean
}

/** Any name can be typed: an alias, or a model of a pattern, stands in no list. */
export function ModelField({ label, value, onChange, fits = () => true }: ModelFieldProps) {
  const { data = [] } = useQuery(models)
  return (
    <Field label={label}>
      {(id) => (
        <>
          <input
            id={id}
            role="combobox"
            aria-expanded="false"
            aria-controls={`${id}-names`}
            list={`${id}-names`}
            value={value}
            spellCheck={false}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
          <datalist id={`${id}-names`}>
            {data.filter(fits).map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

function MakeKey({ onKey }: { readonly onKey: (key: string) => void }) {
  const user = useUser()
  const { data: may = false } = useQuery(mayMakeKeys)
  const { mutate, error, isPending } = useMutation({ mutationFn: makeKey, onSuccess: onKey })
  if (!user || !(user.isAdmin || may)) return null
  return (
    <>
      <Button busy={isPending} title={words.madeKey} onClick={() => mutate(user)}>
        {words.makeKey}
      </Button>
      {error && <Failure error={error} />}
    </>
  )
}
