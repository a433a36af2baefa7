import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { AddProvider } from '../../catalog/AddProvider.tsx'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { shared } from '../../words.ts'
import { echoModel } from './api.ts'
import { KeyStep } from './KeyStep.tsx'
import { ModelsStep } from './ModelsStep.tsx'
import { after, steps } from './steps.ts'
import type { StepProps } from './steps.ts'
import { words } from './words.ts'
import classes from './set-up.module.css'

const views = { provider: ProviderStep, models: ModelsStep, key: KeyStep }

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

/** Makes the first provider, or takes the one that needs no account. */
function ProviderStep({ onDone }: StepProps) {
  const queries = useQueryClient()
  const echo = useMutation({
    mutationFn: () => echoModel(queries),
    onSuccess: (model) => onDone('/setup/key', { model }),
  })
  return (
    <>
      <AddProvider onDone={({ name: provider }) => onDone('/setup/models', { provider })} />
      <div className={classes.echo}>
        <span className={classes.text}>{words.echoText}</span>
        <Button busy={echo.isPending} onClick={() => echo.mutate()}>
          {words.echoButton}
        </Button>
      </div>
      {echo.error && <Failure error={echo.error} />}
    </>
  )
}
