import { useEffect, useRef } from 'react'
import { Status } from '../parts/Status.tsx'
import type { Field } from './schema.ts'
import { words } from './words.ts'
import classes from './form.module.css'

/** Something wrong; without a path, or with one that no field has, it concerns the whole. */
export interface Problem {
  readonly path: string | null
  readonly message: string
}

/** What is wrong with a form, above it; each line leads to its field. It takes the focus. */
export function Problems({
  problems,
  fields,
}: {
  readonly problems: readonly Problem[]
  readonly fields: readonly Field[]
}) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (problems.length > 0) element.current?.focus()
  }, [problems.length])
  if (problems.length === 0) return null
  const labels = labelsOf(fields)
  return (
    <div className={classes.problems} role="alert" tabIndex={-1} ref={element}>
      <Status state="bad">{problems.length === 1 ? problems[0]?.message : words.problems(problems.length)}</Status>
      {problems.length > 1 && (
        <ul>
          {problems.map(({ path, message }) => {
            const label = path === null ? undefined : labels.get(path)
            return (
              <li key={`${path} ${message}`}>
                {label === undefined ? (
                  message
                ) : (
                  <button type="button" className={classes.link} onClick={() => focusField(path ?? '')}>
                    {`${label}: ${message}`}
                  </button>
                )}
              </li>
            )
          })}
        </ul>
      )}
    </div>
  )
}

function labelsOf(fields: readonly Field[]): ReadonlyMap<string, string> {
  return new Map(
    fields.flatMap((field): (readonly [string, string])[] => [[field.path, field.label], ...labelsOf(field.fields)]),
  )
}

/** Puts the focus into the field at a path. */
export function focusField(path: string) {
  const row = document.querySelector(`[data-field="${CSS.escape(path)}"]`)
  row?.querySelector<HTMLElement>('input, textarea, button')?.focus()
}
