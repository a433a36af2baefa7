import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { ButtonLink } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { shared } from '../../words.ts'
import { KeyStep } from './KeyStep.tsx'
import { ModelsStep } from './ModelsStep.tsx'
import { ProviderStep } from './ProviderStep.tsx'
import { words } from './words.ts'
import classes from './set-up.module.css'

const steps = ['provider', 'models', 'key'] as const
type Step = (typeof steps)[number]

const views = { provider: ProviderStep, models: ModelsStep, key: KeyStep }

/** Where each step leads when it is left out; without a key nothing can be asked. */
const after: Readonly<Record<Step, string>> = { provider: '/setup/models', models: '/setup/key', key: '/' }

/** What a step hands to the next one, in the address. */
export interface StepProps {
  readonly onDone: (next: string, search?: Readonly<Record<string, string>>) => void
}

/** What makes a new gateway useful, after its first account: one step at a time, each of which can wait. */
export default function NextSteps() {
  const { step } = useParams({ strict: false }) as { readonly step?: string }
  const navigate = useNavigate()
  if (!useIsAdmin())
    return (
      <Page title={words.title}>
        <Forbidden what={words.forbidden} />
      </Page>
    )
  const current = steps.find((name) => name === step) ?? 'provider'
  const View = views[current]
  return (
    <Page key={current} title={words.title}>
      <StepList />
      <Card title={shared.setUpSteps[current]} className={classes.step}>
        <p className={classes.text}>{words.stepText[current]}</p>
        <View onDone={(to, search = {}) => void navigate({ to, search })} />
        <div className={classes.skip}>
          <ButtonLink to={after[current]} look="quiet">
            {words.skip}
          </ButtonLink>
        </div>
      </Card>
    </Page>
  )
}

/** The steps in order; a link to the page that is open says so by itself. */
function StepList() {
  return (
    <nav aria-label={words.steps}>
      <ol className={classes.steps}>
        {steps.map((step, at) => (
          <li key={step}>
            <Link to={`/setup/${step}`} search={{}}>
              <span className={classes.number} aria-hidden="true">
                {at + 1}
              </span>
              {shared.setUpSteps[step]}
            </Link>
          </li>
        ))}
        <li>
          <Link to="/playground" search={{}}>
            <span className={classes.number} aria-hidden="true">
              {steps.length + 1}
            </span>
            {shared.setUpSteps.answer}
          </Link>
        </li>
      </ol>
    </nav>
  )
}
