import { useNavigate, useParams } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { Forbidden } from './Forbidden.tsx'
import { Page } from './Page.tsx'
import { oneOf, useAddress } from './search.ts'
import { useIsAdmin } from './useUser.ts'

interface RecordScreensProps {
  /** The address of the list, such as `/providers`. */
  readonly at: string
  readonly words: { readonly title: string; readonly add: string; readonly forbidden: string }
  readonly One: ComponentType<{ readonly name: string }>
  readonly List: ComponentType
  readonly Add: ComponentType<AddProps>
}

/** What the form of a new record tells: the record that it has made, or that there will be none. */
export interface AddProps {
  readonly onDone: (made: { readonly name: string }) => void
  readonly onCancel: () => void
}

/** The screens of records that admins alone see: their list, one of them, or the form of a new one, as the address says. */
export function RecordScreens({ at, words, One, List, Add }: RecordScreensProps) {
  const { name } = useParams({ strict: false }) as { readonly name?: string }
  const [search, change] = useAddress()
  const navigate = useNavigate()
  if (!useIsAdmin())
    return (
      <Page title={words.title}>
        <Forbidden what={words.forbidden} />
      </Page>
    )
  if (name !== undefined) return <One key={name} name={name} />
  if (oneOf(search, 'add') === undefined) return <List />
  return (
    <Page key="add" title={words.add}>
      <Add
        onDone={(made) => void navigate({ to: `${at}/${encodeURIComponent(made.name)}`, search: {} })}
        onCancel={() => change({ add: undefined })}
      />
    </Page>
  )
}
