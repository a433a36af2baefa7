import { Status } from '../../parts/Status.tsx'
import type { AnyModel, Model } from './api.ts'
import { words } from './words.ts'

type Any = AnyModel & Partial<Pick<Model, 'enabled' | 'problem'>>

/** Whether clients reach a model, in a word, and why not. */
export function stateText({ enabled = true, problem, available }: Any): string {
  if (!enabled) return words.disabled
  return available ? words.available : (problem ?? words.unavailable)
}

export function State({ model }: { readonly model: Any }) {
  const look = model.enabled === false ? 'off' : model.available ? 'good' : 'bad'
  return <Status state={look}>{stateText(model)}</Status>
}
