import { useMutation } from '@tanstack/react-query'
import { testProvider } from '../../catalog/providers.ts'
import { TestResult } from '../../catalog/TestResult.tsx'
import { Button } from '../../parts/Button.tsx'
import { toastError } from '../../parts/toast.tsx'
import type { Model } from './api.ts'
import { words } from './words.ts'

/** Asks the model's provider for one short answer of it. */
export function TestModel({ model: { name, provider, deployments } }: { readonly model: Model }) {
  const asked = provider ?? deployments[0]?.provider
  const test = useMutation({ mutationFn: (at: string) => testProvider(at, name), onError: toastError })
  if (asked === undefined) return null
  return (
    <>
      {test.data && <TestResult tested={test.data} />}
      <Button busy={test.isPending} onClick={() => test.mutate(asked)}>
        {words.tested}
      </Button>
    </>
  )
}
