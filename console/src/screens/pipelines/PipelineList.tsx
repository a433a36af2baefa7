import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ListedPipeline } from './api.ts'
import classes from './PipelineList.module.css'
import { words } from './words.ts'

interface PipelineListProps {
  readonly pipelines: readonly ListedPipeline[]
  readonly counts: ReadonlyMap<string | undefined, number> | undefined
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const isAdmin = ({ file }: ListedPipeline) => /^pipelines\/admin[/.]/.test(file)

/** All pipelines: those that clients call, those that others include, and those of the admin API. */
export function PipelineList({ pipelines, counts }: PipelineListProps) {
  const [find, setFind] = useState('')
  const found = pipelines.filter(({ name, summary, routes }) =>
    [name, summary, ...routes.map(({ path }) => path)].some((text) => text.toLowerCase().includes(find.toLowerCase())),
  )
  const countOf = ({ protocol, routes }: ListedPipeline) =>
    protocol && routes.length > 0 ? counts?.get(protocol) : undefined
  const groups = [
    {
      title: words.groups.clients,
      own: found
        .filter((one) => !isAdmin(one) && one.routes.length > 0)
        .toSorted((one, other) => (countOf(other) ?? 0) - (countOf(one) ?? 0)),
    },
    { title: words.groups.shared, own: found.filter((one) => !isAdmin(one) && one.routes.length === 0) },
    { title: words.groups.admin, own: found.filter(isAdmin) },
  ]
  const note = ({ name, routes }: ListedPipeline) => {
    const [first] = routes
    const users = pipelines.filter(({ uses }) => uses.includes(name)).length
    if (!first) return users > 0 ? words.usedIn(users) : words.notCalled
    return new Set(routes.map(({ path }) => path.replace(/^(\/v1)+/, ''))).size > 1
      ? words.routes(routes.length)
      : first.path
  }
  return (
    <>
      <input
        className={classes.find}
        type="search"
        value={find}
        placeholder={words.find}
        aria-label={words.find}
        onChange={(event) => setFind(event.currentTarget.value)}
      />
      <nav aria-label={words.title}>
        <ul className={classes.list} aria-label={words.title}>
          {groups.map(({ title, own }, index) =>
            own.map((one, at) => {
              const count = countOf(one)
              return (
                <li key={one.name}>
                  {at === 0 && index > 0 && <span className={classes.group}>{title}</span>}
                  <Link to={`/pipelines/${one.name}`} search={keptSearch} className={classes.link} title={one.summary}>
                    <code>{one.name}</code>
                    <span className={classes.count}>{count ? compact.format(count) : ''}</span>
                    <small>{note(one)}</small>
                  </Link>
                </li>
              )
            }),
          )}
        </ul>
      </nav>
      {found.length === 0 && <p className={classes.group}>{words.none}</p>}
    </>
  )
}

/** The range and the live indicator stay; the selected stage and the request belong to the pipeline that is left. */
export const keptSearch = ({ stage: _stage, request: _request, ...kept }: Readonly<Record<string, unknown>>) => kept
