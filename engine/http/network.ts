import { isIPv6 } from 'node:net'

/** The part of an address that stands for one household or machine: of IPv6 the first 64 bits. */
export function network(address: string): string {
  const [plain = ''] = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const first = groups(head)
  const last = tail === undefined ? [] : groups(tail)
  // The last 32 bits may be written as an IPv4 address, which takes the place of two groups.
  const written = first.length + last.length + (plain.includes('.') ? 1 : 0)
  const all = tail === undefined ? first : [...first, ...Array<string>(8 - written).fill('0'), ...last]
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
