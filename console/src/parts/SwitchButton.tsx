import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { Failure } from './Failure.tsx'
import { toast, toastError } from './toast.tsx'
import { useAction } from './useAction.ts'

interface SwitchButtonProps<T> {
  readonly record: T
  readonly name: string
  readonly isOn: boolean
  /** Turns a record on or off, shows it as it is then, and gives it. */
  readonly turn: (record: T, on: boolean) => Promise<T>
}

/** Disables or enables a record, and offers to take it back. */
export function SwitchButton<T>({ record, name, isOn, turn }: SwitchButtonProps<T>) {
  const { busy, error, act } = useAction()
  const change = async () => {
    const now = await turn(record, !isOn)
    toast(isOn ? shared.disabledNamed(name) : shared.enabledNamed(name), () => {
      turn(now, isOn).catch(toastError)
    })
  }
  return (
    <>
      {error && <Failure error={error} />}
      <Button busy={busy} onClick={() => act(change)}>
        {isOn ? shared.disable : shared.enable}
      </Button>
    </>
  )
}
