import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { oneOf, useAddress } from '../../parts/search.ts'
import { Card } from '../../parts/Card.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { SearchField } from '../../parts/SearchField.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { sectionList } from './api.ts'
import type { ListedSection } from './api.ts'
import { Found } from './Found.tsx'
import { OneSection } from './OneSection.tsx'
import { nameOf, words } from './words.ts'
import classes from './settings.module.css'

/** How the gateway behaves by default, and from where each value is. */
export default function Settings() {
  return <Page title={words.title}>{useIsAdmin() ? <Shown /> : <Forbidden what={words.forbidden} />}</Page>
}

function Shown() {
  const list = useQuery(sectionList)
  const [search] = useAddress()
  const { section } = useParams({ strict: false }) as { readonly section?: string }
  const find = oneOf(search, 'search') ?? ''
  const field = oneOf(search, 'field')
  return (
    <Loaded query={list} height={480}>
      {(sections) => {
        const shown = section ?? sections[0]?.section
        return (
          <div className={classes.columns}>
            <Card>
              <SearchField label={words.find} />
              {find.trim() === '' ? (
                <Sections sections={sections} shown={shown} />
              ) : (
                <Found find={find} sections={sections} shown={`${shown} ${field}`} />
              )}
            </Card>
            {shown !== undefined && <OneSection key={shown} name={shown} field={field} />}
          </div>
        )
      }}
    </Loaded>
  )
}

interface SectionsProps {
  readonly sections: readonly ListedSection[]
  readonly shown: string | undefined
}

function Sections({ sections, shown }: SectionsProps) {
  return (
    <nav aria-label={words.sections}>
      <ul className={classes.list}>
        {sections.map(({ section, source }) => (
          <li key={section}>
            <Link
              to={`/settings/${section}`}
              className={classes.link}
              aria-current={section === shown ? 'page' : undefined}
            >
              {nameOf(section)}
              {source === 'file' && <Tag>{words.inFile}</Tag>}
              {source === 'database' && <Tag look="accent">{words.changed}</Tag>}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
