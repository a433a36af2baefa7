import { duration } from '../format.ts'
import { Status } from '../parts/Status.tsx'
import type { Tested } from './providers.ts'
import { words } from './words.ts'

/** What a test of a provider found, in the upstream's own words where it failed. */
export function TestResult({ tested }: { readonly tested: Tested }) {
  const { ok, status, latency_ms: latency, error, checked } = tested
  const what = words.tested[checked as keyof typeof words.tested] ?? checked
  return (
    <div role="status">
      {ok ? (
        <Status state="good">{words.testOk(duration(latency), what)}</Status>
      ) : (
        <Status state="bad">{words.testFailed(status === null ? '' : ` (${status})`, error?.message ?? '')}</Status>
      )}
    </div>
  )
}
