import { useEffect, useRef } from 'react'
import { Status } from '../parts/Status.tsx'
import { withInner } from './schema.ts'
import type { Field } from './schema.ts'
import { words } from './words.ts'
import classes from './form.module.css'

/** Something wrong; without a path, or with one that no field has, it concerns the whole. */
export interface Problem {
  readonly path: string | null
  readonly message: string
}

interface ProblemsProps {
  readonly problems: readonly Problem[]
  readonly fields: readonly Field[]
  /** How often somebody tried to save: after each time it takes the focus. */
  readonly attempt: number
}

/** What is wrong with a form, above it; each line leads to its field. */
export function Problems({ problems, fields, attempt }: ProblemsProps) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (attempt > 0) element.current?.focus()
  }, [attempt])
  const [only] = problems
  if (!only) return null
  const lines = problems.map((problem) => ({ ...problem, field: fieldAt(fields, problem.path) }))
  return (
    <div className={classes.problems} role="alert" tabIndex={-1} ref={element}>
      {problems.length === 1 ? (
        <Status state="bad">
          {lines[0]?.field && <Leading field={lines[0].field} text={lines[0].field.label} />}
          <span>{only.message}</span>
        </Status>
      ) : (
        <>
          <Status state="bad">{words.problems(problems.length)}</Status>
          <ul>
            {lines.map(({ path, message, field }) => (
              <li key={`${path} ${message}`}>
                {field ? <Leading field={field} text={`${field.label}: ${message}`} /> : message}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

function Leading({ field, text }: { readonly field: Field; readonly text: string }) {
  return (
    <button type="button" className={classes.link} onClick={() => focusField(field.path)}>
      {text}
    </button>
  )
}

/** The field at a path; for a part of a row, such as `deployments[0].weight`, that of the rows. */
function fieldAt(fields: readonly Field[], path: string | null): Field | undefined {
  const known = new Map(withInner(fields).map((field) => [field.path, field]))
  for (let at = path ?? ''; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.'), at.lastIndexOf('[')))) {
    const field = known.get(at)
    if (field) return field
  }
  return undefined
}

/** Puts the focus into the field at a path; of several parts, into the one that is wrong. */
export function focusField(path: string) {
  const row = document.querySelector(`[data-field="${CSS.escape(path)}"]`)
  const wrong = row?.querySelector<HTMLElement>(':is(input, textarea)[aria-invalid=true]')
  const field = wrong ?? row?.querySelector<HTMLElement>('input, textarea, button')
  field?.focus()
}
