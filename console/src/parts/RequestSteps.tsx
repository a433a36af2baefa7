import { queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Answers, Row } from '../api/answers.ts'
import { ask } from '../api/ask.ts'
import type { Query } from '../api/ask.ts'
import { shared } from '../words.ts'
import { ButtonLink } from './Button.tsx'
import { keysAreOn } from './letter-keys.ts'
import type { Search } from './search.ts'
import classes from './RequestSteps.module.css'

type SteppedRow = Pick<Row<'list-requests'>, 'id' | 'at'>

/** More rows of one millisecond than these are not stepped through one by one. */
const within = 20

/** The requests before and after one in the list of `filters`. */
const neighbours = ({ id, at }: SteppedRow, filters: Query) =>
  queryOptions({
    queryKey: ['logs', 'neighbours', id, filters],
    queryFn: async ({ signal }) => {
      const pageOf = async (query: Query) => {
        const answer = await ask<Answers['list-requests']>('GET', '/api/logs', {
          query: { ...filters, limit: within, ...query },
          signal,
        })
        const rows = answer.data.map((row) => row.id)
        return rows[rows.indexOf(id) + 1] ?? null
      }
      const justAfter = new Date(Date.parse(at) + 1).toISOString()
      const [newer, older] = await Promise.all([
        pageOf({ since: at, sort: 'at' }),
        pageOf({ since: new Date(0).toISOString(), until: justAfter, sort: '-at' }),
      ])
      return { newer, older }
    },
    staleTime: 10_000,
  })

interface RequestStepsProps {
  readonly row: SteppedRow
  /** The list that is stepped through; undefined: it is not known yet. */
  readonly filters: Query | undefined
  /** Where another request of the list is shown. */
  readonly linkTo: (id: string) => { readonly to: string; readonly search: Search }
}

/** To the requests before and after one in a list: links, and the keys `k` and `j`. */
export function RequestSteps({ row, filters, linkTo }: RequestStepsProps) {
  const navigate = useNavigate()
  const { data } = useQuery({ ...neighbours(row, filters ?? {}), enabled: filters !== undefined })
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const id = event.key === 'k' ? data?.newer : event.key === 'j' ? data?.older : undefined
      if (!id || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !keysAreOn()) return
      if ((event.target as HTMLElement).closest('input, textarea, select, dialog, [role=menu]')) return
      event.preventDefault()
      void navigate({ ...linkTo(id), replace: true })
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [data, navigate, linkTo])
  return (
    <span className={classes.steps}>
      {data?.newer && (
        <ButtonLink small icon="arrow-up" {...linkTo(data.newer)} replace>
          {shared.newer} <kbd>{shared.newerKey}</kbd>
        </ButtonLink>
      )}
      {data?.older && (
        <ButtonLink small icon="arrow-down" {...linkTo(data.older)} replace>
          {shared.older} <kbd>{shared.olderKey}</kbd>
        </ButtonLink>
      )}
    </span>
  )
}
