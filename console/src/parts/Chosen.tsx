import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { Failure } from './Failure.tsx'
import { useAction } from './useAction.ts'
import classes from './Chosen.module.css'

interface ChosenProps<T> {
  readonly rows: readonly T[]
  /** How many are chosen, in words. */
  readonly label: string
  readonly isOn: (row: T) => boolean
  /** Enables or disables all of them. */
  readonly turn: (on: boolean) => Promise<unknown>
  readonly onDone: () => void
}

/** What can be done with several records at once. */
export function Chosen<T>({ rows, label, isOn, turn, onDone }: ChosenProps<T>) {
  const { busy, error, act } = useAction()
  if (rows.length === 0) return null
  const apply = (on: boolean) => act(() => turn(on).then(onDone))
  return (
    <>
      <div className={classes.chosen} role="group" aria-label={label}>
        <span>{label}</span>
        <Button small busy={busy} disabled={!rows.some(isOn)} onClick={() => apply(false)}>
          {shared.disable}
        </Button>
        <Button small busy={busy} disabled={rows.every(isOn)} onClick={() => apply(true)}>
          {shared.enable}
        </Button>
        <Button small look="quiet" onClick={onDone}>
          {shared.chooseNone}
        </Button>
      </div>
      {error && <Failure error={error} />}
    </>
  )
}
