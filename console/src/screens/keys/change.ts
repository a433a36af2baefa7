import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import { toast, toastError } from '../../parts/toast.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { oneKey } from './api.ts'
import type { Key } from './api.ts'
import { shared } from '../../words.ts'
import { words } from './words.ts'

/** Where the user may change keys: an admin everywhere, others their own. */
export const useKeysPath = (): string => (useIsAdmin() ? '/api/api-keys' : '/api/me/api-keys')

/** Puts a key as it was answered into what is shown. */
export function useShowKey(): (key: Key) => void {
  const queries = useQueryClient()
  return (key) => {
    queries.setQueryData(oneKey(key.id).queryKey, key)
    void queries.invalidateQueries({ queryKey: ['keys', 'list'] })
  }
}

/** Changes fields of a key, and refuses to if somebody else changed it meanwhile. */
export function useChangeKey(): (key: Key, body: object) => Promise<Key> {
  const path = useKeysPath()
  const show = useShowKey()
  return async ({ id, version }, body) => {
    const key = await ask<Key>('PATCH', `${path}/${encodeURIComponent(id)}`, { body, ifMatch: version })
    show(key)
    return key
  }
}

/** Enables or disables keys, one after the other, and offers to take it back. */
export function useSwitchKeys(): (keys: readonly Key[], disabled: boolean) => Promise<void> {
  const change = useChangeKey()
  const apply = async (keys: readonly Key[], disabled: boolean) => {
    const changed: Key[] = []
    for (const key of keys) if (key.disabled !== disabled) changed.push(await change(key, { disabled }))
    return changed
  }
  return async (keys, disabled) => {
    const changed = await apply(keys, disabled)
    const [only] = changed
    if (!only) return
    const said = disabled ? words.disabledMany : words.enabledMany
    const text =
      changed.length > 1 ? said(changed.length) : (disabled ? shared.disabledNamed : shared.enabledNamed)(only.name)
    toast(text, () => void apply(changed, !disabled).catch(toastError))
  }
}
