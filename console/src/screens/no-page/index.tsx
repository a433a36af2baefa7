import { ButtonLink } from '../../parts/Button.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Page } from '../../parts/Page.tsx'
import { words } from './words.ts'

/** What every address shows that no screen has. */
export default function NoPage() {
  return (
    <Page title={words.title}>
      <Empty text={words.text}>
        <ButtonLink to="/">{words.toOverview}</ButtonLink>
      </Empty>
    </Page>
  )
}
