import { useQueryClient } from '@tanstack/react-query'
import { toast, toastError } from '../../parts/toast.tsx'
import { changeModel, oneModel } from './api.ts'
import type { Model } from './api.ts'
import { shared } from '../../words.ts'
import { words } from './words.ts'

/** Puts a model as it was answered into what is shown. */
export function useShowModel(): (model: Model) => void {
  const queries = useQueryClient()
  return (model) => {
    queries.setQueryData(oneModel(model.name).queryKey, model)
    void queries.invalidateQueries({ queryKey: ['models', 'list'] })
    void queries.invalidateQueries({ queryKey: ['models', 'catalog'] })
    void queries.invalidateQueries({ queryKey: ['names', 'model'] })
  }
}

/** Enables or disables models, one after the other, and offers to take it back. */
export function useSwitchModels(): (models: readonly Model[], enabled: boolean) => Promise<void> {
  const show = useShowModel()
  const apply = async (models: readonly Model[], enabled: boolean) => {
    const changed: Model[] = []
    try {
      // Each change makes a new configuration.
      // oxlint-disable-next-line no-await-in-loop
      for (const model of models) if (model.enabled !== enabled) changed.push(await changeModel(model, { enabled }))
    } finally {
      for (const model of changed) show(model)
    }
    return changed
  }
  return async (models, enabled) => {
    const changed = await apply(models, enabled)
    const [only] = changed
    if (!only) return
    const many = enabled ? words.enabledMany : words.disabledMany
    const one = enabled ? shared.enabledNamed : shared.disabledNamed
    const undo = () => void apply(changed, !enabled).catch(toastError)
    toast(changed.length > 1 ? many(changed.length) : one(only.name), undo)
  }
}
