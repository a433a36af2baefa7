import { exactMoney, money } from '../format.ts'

/** USD; a pointer that rests on it sees every micro-USD. */
export function Money({ usd }: { readonly usd: number | null }) {
  return <span title={exactMoney(usd)}>{money(usd)}</span>
}
