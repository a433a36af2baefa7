import { useState } from 'react'

interface Action {
  /** It is under way; doing it again does nothing. */
  readonly busy: boolean
  /** What refused it the last time. */
  readonly error: Error | undefined
  readonly act: (run: () => Promise<unknown>) => void
}

/** Something that somebody does by a button: once at a time, with its refusal beside it. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const act = (run: () => Promise<unknown>) => {
    if (busy) return
    setBusy(true)
    setError(undefined)
    run()
      .catch(setError)
      .finally(() => setBusy(false))
  }
  return { busy, error, act }
}
