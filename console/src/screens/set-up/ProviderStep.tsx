import { useMutation, useQueryClient } from '@tanstack/react-query'
import { AddProvider } from '../../catalog/AddProvider.tsx'
import { Button } from '../../parts/Button.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { echoModel } from './api.ts'
import type { StepProps } from './NextSteps.tsx'
import { words } from './words.ts'
import classes from './set-up.module.css'

/** Makes the first provider, or takes the one that needs no account. */
export function ProviderStep({ onDone }: StepProps) {
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
