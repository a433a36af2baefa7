import { ButtonLink } from '../../parts/Button.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Page } from '../../parts/Page.tsx'

const words = {
  title: 'There is no page here',
  text: 'The address may be mistyped, or of a page that this version does not have.',
  toOverview: 'Go to Overview',
} as const

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
