import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { fieldsOf } from '../../form/schema.ts'
import type { Field } from '../../form/schema.ts'
import { Empty } from '../../parts/Empty.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { section } from './api.ts'
import type { ListedSection } from './api.ts'
import { nameOf, words } from './words.ts'
import classes from './settings.module.css'

interface FoundProps {
  readonly find: string
  readonly sections: readonly ListedSection[]
  /** The setting that is shown, as its section and its path. */
  readonly shown: string
}

/** The settings of all sections that have a text in their title, their path or their hint. */
export function Found({ find, sections, shown }: FoundProps) {
  const queries = useQueries({ queries: sections.map((one) => section(one.section)) })
  if (queries.some((query) => query.isPending)) return <Skeleton height={160} />
  const text = find.trim().toLowerCase()
  const found = queries.flatMap(({ data }) =>
    data === undefined
      ? []
      : named(fieldsOf(data.schema))
          .filter(({ label, field: { path, hint } }) =>
            [label, path, hint].some((part) => part.toLowerCase().includes(text)),
          )
          .map((one) => ({ section: data.section, ...one })),
  )
  if (found.length === 0) return <Empty text={words.none} />
  return (
    <nav aria-label={words.found}>
      <ul className={classes.list}>
        {found.map(({ section: name, field: { path }, label }) => (
          <li key={`${name} ${path}`}>
            <Link
              to={`/settings/${name}`}
              search={{ search: find, field: path }}
              className={`${classes.link} ${classes.found}`}
              aria-current={shown === `${name} ${path}` ? 'page' : undefined}
            >
              <span>{label}</span>
              <small>{nameOf(name)}</small>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** The fields that hold a value, each with the names of its groups before its own. */
const named = (fields: readonly Field[], within = ''): readonly { field: Field; label: string }[] =>
  fields.flatMap((field) => {
    const label = `${within}${field.label}`
    return field.kind === 'group' ? named(field.fields, `${label} › `) : [{ field, label }]
  })
