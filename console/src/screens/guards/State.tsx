import { Status } from '../../parts/Status.tsx'
import type { State as Look } from '../../parts/Status.tsx'
import type { Guard } from './api.ts'
import { words } from './words.ts'

/** Whether a guard judges and acts, or why it does not. */
function stateOf({ problem, enabled, shadow }: Guard): readonly [look: Look, text: string] {
  if (!enabled) return ['off', words.states.off]
  if (problem) return ['bad', problem]
  return shadow ? ['warning', words.states.shadow] : ['good', words.states.on]
}

export const stateText = (guard: Guard): string => stateOf(guard)[1]

export function State({ guard }: { readonly guard: Guard }) {
  const [look, text] = stateOf(guard)
  return <Status state={look}>{text}</Status>
}
