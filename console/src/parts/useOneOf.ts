import { useEffect } from 'react'
import { shared } from '../words.ts'
import { oneOf, useAddress } from './search.ts'
import { toast } from './toast.tsx'

/** The one of `names` that the address has under `name`, otherwise the usual one, and how to choose one. */
export function useOneOf<T extends string>(
  name: string,
  names: readonly T[],
  usual: T,
): readonly [T, (chosen: T) => void] {
  const [search, change] = useAddress()
  const given = oneOf(search, name)
  const known = names.find((one) => one === given)
  useEffect(() => {
    if (given === undefined || known !== undefined) return
    toast(shared.wrongInAddress(name))
    change({ [name]: undefined })
  }, [name, given, known, change])
  return [known ?? usual, (chosen) => change({ [name]: chosen === usual ? undefined : chosen }, { push: true })]
}
